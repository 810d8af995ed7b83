"""Receives OTLP and Prometheus remote write, and prints a line for each value.

The first line is the port. The others have the columns: form, name, kind, labels as name=value separated by the control character 1F,
value, time in ns. OTLP is decoded with the official package opentelemetry-proto. Prometheus has no such package: its messages are
declared here with the numbers of prompb/types.proto.
"""

import http.server
import threading

import cramjam
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

CUMULATIVE = 2
FIELD = descriptor_pb2.FieldDescriptorProto
MESSAGES = {
    "Label": [("name", 1, FIELD.TYPE_STRING, None), ("value", 2, FIELD.TYPE_STRING, None)],
    "Sample": [("value", 1, FIELD.TYPE_DOUBLE, None), ("timestamp", 2, FIELD.TYPE_INT64, None)],
    "TimeSeries": [("labels", 1, FIELD.TYPE_MESSAGE, "Label"), ("samples", 2, FIELD.TYPE_MESSAGE, "Sample")],
    "WriteRequest": [("timeseries", 1, FIELD.TYPE_MESSAGE, "TimeSeries")],
}


def write_request_class():
    file = descriptor_pb2.FileDescriptorProto(name="types.proto", package="prometheus", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, of in fields:
            label = FIELD.LABEL_REPEATED if of else FIELD.LABEL_OPTIONAL
            of = f".prometheus.{of}" if of else None
            message.field.add(name=field, number=number, type=kind, label=label, type_name=of)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("prometheus.WriteRequest"))


WriteRequest = write_request_class()
LOCK = threading.Lock()


def show(form, name, kind, labels, value, time_ns):
    labels = "\x1f".join(f"{name}={text}" for name, text in sorted(labels.items()))
    with LOCK:
        print(form, name, kind, labels, repr(float(value)), time_ns, sep="\t", flush=True)


def otlp(body):
    request = ExportMetricsServiceRequest.FromString(body)
    for of_resource in request.resource_metrics:
        for of_scope in of_resource.scope_metrics:
            for metric in of_scope.metrics:
                kind = metric.WhichOneof("data")
                if kind not in ("sum", "gauge"):
                    continue
                data = getattr(metric, kind)
                if kind == "sum":
                    assert data.is_monotonic and data.aggregation_temporality == CUMULATIVE
                for point in data.data_points:
                    labels = {label.key: label.value.string_value for label in point.attributes}
                    value = getattr(point, point.WhichOneof("value"))
                    show("otlp", metric.name, kind, labels, value, point.time_unix_nano)


def remote_write(body):
    request = WriteRequest.FromString(bytes(cramjam.snappy.decompress_raw(body)))
    for series in request.timeseries:
        names = [label.name for label in series.labels]
        assert names == sorted(set(names)), names
        labels = {label.name: label.value for label in series.labels}
        name = labels.pop("__name__")
        for sample in series.samples:
            show("remote-write", name, "", labels, sample.value, sample.timestamp * 1_000_000)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert self.headers["Content-Type"] == "application/x-protobuf"
        if self.path == "/v1/metrics":
            otlp(body)
        else:
            assert self.path == "/api/v1/write"
            assert self.headers["Content-Encoding"] == "snappy"
            assert self.headers["X-Prometheus-Remote-Write-Version"] == "0.1.0"
            remote_write(body)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
