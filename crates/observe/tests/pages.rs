//! Pages of real exporters: node_exporter 1.5 and the Python client in OpenMetrics.

use busyhour_observe::prometheus::MetricSelection;
use busyhour_observe::prometheus::text::{MetricSample, Samples, SeriesRole, TextFormat};

const NODE: &str = include_str!("pages/node_exporter.txt");
const PYTHON: &str = include_str!("pages/python_client_openmetrics.txt");

fn read(text: &str, format: TextFormat) -> Vec<MetricSample<'_>> {
    Samples::new(text, format).map(|sample| sample.expect("exporters write valid lines")).collect()
}

#[test]
fn all_samples_of_a_node_exporter_are_read() {
    let samples = read(NODE, TextFormat::Prometheus);
    // Counted with the parser of the Python client: 143 samples of counters, 7 of summaries, 310 of gauges, 47 untyped.
    assert_eq!(samples.len(), 507);
    let of_role = |role| samples.iter().filter(|sample| sample.role == role).count();
    assert_eq!((of_role(SeriesRole::Counter), of_role(SeriesRole::Quantile)), (143, 5));
    assert_eq!(
        (of_role(SeriesRole::Sum), of_role(SeriesRole::Count), of_role(SeriesRole::Gauge)),
        (1, 1, 357)
    );
    // Lines without labels are a name and a number.
    for line in NODE.lines().filter(|line| !line.starts_with('#') && !line.contains('{')) {
        let (name, value) = line.split_once(' ').expect("a name and a number");
        let sample = samples.iter().find(|sample| sample.name == name).expect("it was read");
        assert_eq!(Ok(sample.value), value.parse());
    }
}

#[test]
fn the_default_selection_of_a_node_exporter_is_small() {
    let selection = MetricSelection::default();
    let samples = read(NODE, TextFormat::Prometheus);
    let selected: Vec<&MetricSample<'_>> =
        samples.iter().filter(|sample| selection.selects(&sample.name, &sample.labels)).collect();
    for name in [
        "node_cpu_seconds_total",
        "node_load1",
        "node_memory_MemAvailable_bytes",
        "node_pressure_cpu_waiting_seconds_total",
        "node_disk_io_time_weighted_seconds_total",
        "node_network_receive_bytes_total",
        "node_netstat_Tcp_RetransSegs",
        "node_netstat_TcpExt_ListenOverflows",
        "process_cpu_seconds_total",
    ] {
        assert!(selected.iter().any(|sample| sample.name == name), "{name}");
    }
    assert!((60..120).contains(&selected.len()), "{}", selected.len());
}

#[test]
fn open_metrics_of_the_python_client() {
    let samples = read(PYTHON, TextFormat::OpenMetrics);
    let find = |name: &str| samples.iter().find(|sample| sample.name == name).expect(name);
    let orders = find("shop_orders_total");
    assert_eq!((orders.value, orders.role), (3.0, SeriesRole::Counter));
    assert_eq!(orders.label("zone"), Some("a \"quoted\", {braced} \\ zone"));
    assert!(samples.iter().any(|sample| sample.label("zone") == Some("new\nline é") && sample.value == 1.5));
    assert_eq!(find("shop_request_seconds_bucket").role, SeriesRole::Bucket);
    assert_eq!(
        (find("shop_request_seconds_sum").value, find("shop_size_bytes_sum").role),
        (7.611, SeriesRole::Sum)
    );
    assert_eq!(find("shop_orders_created").role, SeriesRole::Created);
    assert!(find("shop_open_carts").value.is_nan());
    assert_eq!(find("shop_ratio").value, 1e-9);
    assert_eq!(find("shop_build_info").label("version"), Some("1.2"));
    assert_eq!(samples.iter().filter(|sample| sample.name == "shop_state").count(), 2);
    let mut reader = Samples::new(PYTHON, TextFormat::OpenMetrics);
    assert_eq!(reader.by_ref().count(), samples.len());
    assert!(reader.is_complete());
    assert_eq!(reader.help("shop_orders_total"), Some("Orders \"placed\"\nin \\ all shops."));
}
