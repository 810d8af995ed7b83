//! Names of metrics as clients of the ServerAgent write them: `type:parameter:parameter`.
//!
//! The names are those of the ServerAgent 2.2; the type ends at the first blank (`network i/o` is `network`) and is not
//! case-sensitive. The last parameter without `=` is the field. `\:` is a colon within a parameter.

use std::str::FromStr;

/// A metric that the agent can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerfMonMetric {
    /// The quantity to read.
    pub quantity: PerfMonQuantity,
    /// The unit in which a size is returned.
    pub unit: MetricUnit,
}

/// A quantity, with the part of the system to which it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerfMonQuantity {
    /// CPU time of the machine or of one core, in percent of the time.
    Cpu(CpuField, Option<usize>),
    /// CPU time of a process.
    ProcessCpu(ProcessCpuField, PerfMonProcess),
    /// Memory of the machine.
    Memory(MemoryField),
    /// Memory of a process.
    ProcessMemory(ProcessMemoryField, PerfMonProcess),
    /// Swap space.
    Swap(SwapField),
    /// The file system mounted at this path, or all on local disks together.
    Disk(DiskField, Option<String>),
    /// This network interface, or all together.
    Network(NetworkField, Option<String>),
    /// TCP connections of the machine by state.
    Tcp(TcpField),
}

/// The process of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PerfMonProcess {
    /// By process ID.
    Pid(u32),
    /// By the name of its executable file, not case-sensitive. The index, from 0, selects one of the processes with
    /// this name.
    Executable(String, usize),
}

/// The unit of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricUnit {
    /// The quantity's own: bytes; KiB for the space of file systems.
    Default,
    /// Bytes.
    Bytes,
    /// KiB.
    KiloBytes,
    /// MiB.
    MegaBytes,
}

/// Declares an enumeration of the fields of a metric with their names in the protocol.
macro_rules! fields {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$field_doc])* $field,)+
        }

        impl $name {
            /// All fields, with their names.
            pub const ALL: &[($name, &'static str)] = &[$(($name::$field, $text)),+];
        }

        impl FromStr for $name {
            type Err = ();

            fn from_str(text: &str) -> Result<Self, ()> {
                $name::ALL.iter().find(|(_, name)| *name == text).map(|(field, _)| *field).ok_or(())
            }
        }
    };
}

fields! {
    /// A share of CPU time in percent.
    CpuField {
        /// User, nice, system and I/O wait together, as the original agent adds them up.
        Combined = "combined",
        /// Idle.
        Idle = "idle",
        /// Interrupts.
        Irq = "irq",
        /// User processes with lowered priority.
        Nice = "nice",
        /// Deferred interrupts.
        SoftIrq = "softirq",
        /// Taken by the hypervisor.
        Stolen = "stolen",
        /// The kernel.
        System = "system",
        /// User processes.
        User = "user",
        /// Idle while a disk works.
        IoWait = "iowait",
    }
}

fields! {
    /// CPU time of a process.
    ProcessCpuField {
        /// In percent of one core.
        Percent = "percent",
        /// In ms per interval.
        Total = "total",
        /// Time in the kernel, in ms per interval.
        System = "system",
        /// Time in user mode, in ms per interval.
        User = "user",
    }
}

fields! {
    /// Memory of the machine.
    MemoryField {
        /// Available for programs, without swapping.
        ActualFree = "actualfree",
        /// Not available for programs.
        ActualUsed = "actualused",
        /// Without any content, not even a cache.
        Free = "free",
        /// `actualfree` in percent of the total.
        FreePercent = "freeperc",
        /// The total in MiB.
        Ram = "ram",
        /// The total.
        Total = "total",
        /// The total less `free`.
        Used = "used",
        /// `actualused` in percent of the total.
        UsedPercent = "usedperc",
    }
}

fields! {
    /// Memory of a process.
    ProcessMemoryField {
        /// Address space.
        Virtual = "virtual",
        /// Resident memory shared with others.
        Shared = "shared",
        /// Page faults per interval.
        PageFaults = "pagefaults",
        /// Page faults that needed a disk, per interval.
        MajorFaults = "majorfaults",
        /// Other page faults, per interval.
        MinorFaults = "minorfaults",
        /// Resident memory.
        Resident = "resident",
    }
}

fields! {
    /// Swap space.
    SwapField {
        /// Pages read per interval.
        PageIn = "pagein",
        /// Pages written per interval.
        PageOut = "pageout",
        /// Free.
        Free = "free",
        /// Total.
        Total = "total",
        /// Used.
        Used = "used",
    }
}

fields! {
    /// A file system and its disk.
    DiskField {
        /// Space that users may fill.
        Available = "available",
        /// Mean number of requests in progress.
        Queue = "queue",
        /// Bytes read per interval.
        ReadBytes = "readbytes",
        /// Reads per interval.
        Reads = "reads",
        /// Mean time of a request in ms.
        Service = "service",
        /// Bytes written per interval.
        WriteBytes = "writebytes",
        /// Writes per interval.
        Writes = "writes",
        /// Number of files that fit.
        Files = "files",
        /// Free space.
        Free = "free",
        /// Number of files that still fit.
        FreeFiles = "freefiles",
        /// Total space.
        Total = "total",
        /// Used space in percent of used and available space.
        UsePercent = "useperc",
        /// Used space.
        Used = "used",
    }
}

fields! {
    /// Traffic of network interfaces, per interval.
    NetworkField {
        /// Bytes received.
        BytesReceived = "bytesrecv",
        /// Packets received but dropped.
        ReceiveDrops = "rxdrops",
        /// Errors while receiving.
        ReceiveErrors = "rxerr",
        /// Frame errors.
        ReceiveFrame = "rxframe",
        /// Overruns while receiving.
        ReceiveOverruns = "rxoverruns",
        /// Packets received.
        PacketsReceived = "rx",
        /// Bytes sent.
        BytesSent = "bytessent",
        /// Losses of the carrier.
        Carrier = "txcarrier",
        /// Collisions.
        Collisions = "txcollisions",
        /// Packets not sent but dropped.
        SendDrops = "txdrops",
        /// Errors while sending.
        SendErrors = "txerr",
        /// Overruns while sending.
        SendOverruns = "txoverruns",
        /// Packets sent since the start of the system (the original agent's meaning of this name).
        Used = "used",
        /// Speed of the interface in bit/s.
        Speed = "speed",
        /// Packets sent.
        PacketsSent = "tx",
    }
}

fields! {
    /// Number of TCP sockets in a state.
    TcpField {
        /// Bound (a state of Solaris).
        Bound = "bound",
        /// Closed.
        Close = "close",
        /// Closed by the peer.
        CloseWait = "close_wait",
        /// Closing on both sides.
        Closing = "closing",
        /// Established.
        Established = "estab",
        /// Closed here, not acknowledged.
        FinWait1 = "fin_wait1",
        /// Closed here.
        FinWait2 = "fin_wait2",
        /// Idle (a state of Solaris).
        Idle = "idle",
        /// Connections to listening ports.
        Inbound = "inbound",
        /// Waiting for the last acknowledgement.
        LastAck = "last_ack",
        /// Listening.
        Listen = "listen",
        /// Connections from other ports.
        Outbound = "outbound",
        /// Being opened by the peer.
        SynReceived = "syn_recv",
        /// Closed, kept for late packets.
        TimeWait = "time_wait",
    }
}

/// Why a metric is not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetricRejection {
    /// The metric runs a program.
    #[error("exec is refused: this agent runs no programs")]
    Exec,
    /// The metric reads a file.
    #[error("tail is refused: this agent reads no files for clients")]
    Tail,
    /// The metric connects to a JVM.
    #[error("jmx is not supported; watch the JVM with busyhour observe")]
    Jmx,
    /// The process is selected by a query of SIGAR.
    #[error("ptql is not supported; select the process with pid= or name=")]
    Ptql,
    /// The type is unknown.
    #[error("unknown metric `{0}`; known are cpu, memory, swap, disks, network and tcp")]
    UnknownType(String),
    /// The field is unknown.
    #[error("unknown field `{field}` of {of}")]
    UnknownField {
        /// The type of the metric.
        of: &'static str,
        /// The field.
        field: String,
    },
    /// A parameter has a bad value.
    #[error("bad parameter `{0}`")]
    BadParameter(String),
    /// The value does not exist on Linux.
    #[error("{0} does not exist on Linux")]
    NotOnLinux(&'static str),
}

/// The parameters of a metric.
#[derive(Default)]
struct Parameters {
    field: String,
    process: Option<PerfMonProcess>,
    core: Option<usize>,
    file_system: Option<String>,
    interface: Option<String>,
    unit: String,
}

impl FromStr for PerfMonMetric {
    type Err = MetricRejection;

    fn from_str(text: &str) -> Result<Self, MetricRejection> {
        let (kind, parameters) = text.split_once(':').unwrap_or((text, ""));
        let kind = kind.trim().split(' ').next().unwrap_or_default().to_ascii_lowercase();
        match kind.as_str() {
            "exec" => return Err(MetricRejection::Exec),
            "tail" => return Err(MetricRejection::Tail),
            "jmx" => return Err(MetricRejection::Jmx),
            _ => {}
        }
        let parameters = parse_parameters(parameters.trim())?;
        let quantity = parse_quantity(&kind, &parameters)?;
        let unit = match parameters.unit.as_str() {
            "b" => MetricUnit::Bytes,
            "kb" => MetricUnit::KiloBytes,
            "mb" => MetricUnit::MegaBytes,
            _ => MetricUnit::Default,
        };
        Ok(PerfMonMetric { quantity, unit })
    }
}

fn parse_quantity(kind: &str, parameters: &Parameters) -> Result<PerfMonQuantity, MetricRejection> {
    let field = parameters.field.as_str();
    Ok(match (kind, &parameters.process) {
        ("cpu", None) => {
            PerfMonQuantity::Cpu(parse_field("cpu", field, CpuField::Combined)?, parameters.core)
        }
        ("cpu", Some(process)) => PerfMonQuantity::ProcessCpu(
            parse_field("cpu of a process", field, ProcessCpuField::Percent)?,
            process.clone(),
        ),
        ("memory", None) => PerfMonQuantity::Memory(parse_field("memory", field, MemoryField::UsedPercent)?),
        ("memory", Some(process)) => PerfMonQuantity::ProcessMemory(
            parse_field("memory of a process", field, ProcessMemoryField::Resident)?,
            process.clone(),
        ),
        ("swap", _) => PerfMonQuantity::Swap(parse_field("swap", field, SwapField::Used)?),
        ("disks", _) => PerfMonQuantity::Disk(
            parse_field("disks", field, DiskField::Queue)?,
            parameters.file_system.clone(),
        ),
        ("network", _) => {
            let field = parse_field("network", field, NetworkField::BytesReceived)?;
            PerfMonQuantity::Network(field, parameters.interface.clone())
        }
        ("tcp", _) => match parse_field("tcp", field, TcpField::Established)? {
            TcpField::Bound => return Err(MetricRejection::NotOnLinux("the TCP state `bound`")),
            TcpField::Idle => return Err(MetricRejection::NotOnLinux("the TCP state `idle`")),
            field => PerfMonQuantity::Tcp(field),
        },
        _ => return Err(MetricRejection::UnknownType(kind.chars().take(40).collect())),
    })
}

fn parse_field<F: FromStr>(of: &'static str, text: &str, default: F) -> Result<F, MetricRejection> {
    if text.is_empty() {
        return Ok(default);
    }
    text.parse().map_err(|_| MetricRejection::UnknownField { of, field: text.chars().take(40).collect() })
}

fn parse_parameters(text: &str) -> Result<Parameters, MetricRejection> {
    let mut parameters = Parameters::default();
    for token in split_parameters(text) {
        let bad = || MetricRejection::BadParameter(token.chars().take(40).collect());
        match token.split_once('=') {
            Some(("pid", pid)) => {
                parameters.process = Some(PerfMonProcess::Pid(pid.trim().parse().map_err(|_| bad())?));
            }
            Some(("name", name)) => {
                let (name, number) = name.split_once('#').unwrap_or((name, "0"));
                let number = number.parse().map_err(|_| bad())?;
                parameters.process = Some(PerfMonProcess::Executable(name.to_owned(), number));
            }
            Some(("ptql", _)) => return Err(MetricRejection::Ptql),
            Some(("core", core)) => parameters.core = Some(core.parse().map_err(|_| bad())?),
            Some(("fs", path)) => parameters.file_system = Some(path.to_owned()),
            Some(("iface", name)) => parameters.interface = Some(name.to_owned()),
            Some(("unit", unit)) => parameters.unit = unit.to_owned(),
            Some(("label", _)) => {}
            _ => parameters.field = token,
        }
    }
    Ok(parameters)
}

/// Splits at colons that no backslash precedes, and removes the backslashes before other colons. Like Java's `split`, without empty
/// texts at the end.
pub(super) fn split_parameters(text: &str) -> Vec<String> {
    let mut tokens = vec![String::new()];
    for character in text.chars() {
        let last = tokens.len() - 1;
        let token = &mut tokens[last];
        match character {
            ':' if token.ends_with('\\') => {
                token.pop();
                token.push(':');
            }
            ':' => tokens.push(String::new()),
            other => token.push(other),
        }
    }
    while tokens.last().is_some_and(String::is_empty) {
        tokens.pop();
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(text: &str) -> PerfMonQuantity {
        text.parse::<PerfMonMetric>().unwrap_or_else(|refusal| panic!("{text}: {refusal}")).quantity
    }

    #[test]
    fn metrics_of_existing_plans_are_parsed() {
        use PerfMonQuantity::*;
        let java = |number| PerfMonProcess::Executable("java".to_owned(), number);
        for (text, expected) in [
            ("cpu:", Cpu(CpuField::Combined, None)),
            ("CPU", Cpu(CpuField::Combined, None)),
            ("cpu:core=3:user", Cpu(CpuField::User, Some(3))),
            ("cpu:name=java#2:user", ProcessCpu(ProcessCpuField::User, java(2))),
            ("cpu:name=java", ProcessCpu(ProcessCpuField::Percent, java(0))),
            ("memory:usedperc", Memory(MemoryField::UsedPercent)),
            ("memory:pid=12:resident", ProcessMemory(ProcessMemoryField::Resident, PerfMonProcess::Pid(12))),
            ("swap:pagein", Swap(SwapField::PageIn)),
            ("disks i/o:fs=C\\:\\:reads", Disk(DiskField::Queue, Some("C::reads".to_owned()))),
            ("disks i/o:fs=/var:reads", Disk(DiskField::Reads, Some("/var".to_owned()))),
            (
                "network i/o:iface=eth0:bytessent:label=out",
                Network(NetworkField::BytesSent, Some("eth0".into())),
            ),
            ("tcp:time_wait", Tcp(TcpField::TimeWait)),
        ] {
            assert_eq!(quantity(text), expected, "{text}");
        }
        assert_eq!("memory:used:unit=mb".parse::<PerfMonMetric>().unwrap().unit, MetricUnit::MegaBytes);
        assert_eq!("memory:used:unit=tb".parse::<PerfMonMetric>().unwrap().unit, MetricUnit::Default);
    }

    #[test]
    fn all_fields_have_distinct_names() {
        for (field, name) in NetworkField::ALL {
            assert_eq!(name.parse(), Ok(*field));
        }
        for (field, name) in DiskField::ALL {
            assert_eq!(name.parse(), Ok(*field));
        }
    }

    #[test]
    fn refusals_state_the_reason() {
        let long = format!("{}:x", "y".repeat(9_999));
        for (text, expected) in [
            ("exec:/bin/sh:-c:reboot", "exec is refused: this agent runs no programs"),
            ("EXEC", "exec is refused: this agent runs no programs"),
            ("tail:/etc/passwd", "tail is refused: this agent reads no files for clients"),
            ("jmx:gc-time", "jmx is not supported; watch the JVM with busyhour observe"),
            ("cpu:ptql=State.Name.eq=java", "ptql is not supported; select the process with pid= or name="),
            ("cpu:combine", "unknown field `combine` of cpu"),
            ("cpu:core=x", "bad parameter `core=x`"),
            ("cpu:pid=-1", "bad parameter `pid=-1`"),
            ("tcp:idle", "the TCP state `idle` does not exist on Linux"),
            ("", "unknown metric ``; known are cpu, memory, swap, disks, network and tcp"),
        ] {
            assert_eq!(text.parse::<PerfMonMetric>().unwrap_err().to_string(), expected, "{text}");
        }
        assert!(long.parse::<PerfMonMetric>().unwrap_err().to_string().len() < 200);
    }
}
