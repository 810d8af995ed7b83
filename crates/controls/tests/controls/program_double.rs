//! Doubles of `pqos`, `xl`, `ip` and `tc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use busyhour_controls::system::Output;

/// A virtual interface outside of the namespaces: the namespace and name of its peer, and its configuration.
type Pair = (String, String, Vec<String>);

#[derive(Clone, Debug)]
pub struct Programs {
    /// The masks of classes 0 and 1 on sockets 0 and 1.
    pqos_masks: BTreeMap<(u32, u32), u64>,
    /// Bandwidth in percent.
    pqos_bandwidths: BTreeMap<(u32, u32), u64>,
    pqos_cores: BTreeMap<u32, u32>,
    /// The masks of a Xen domain by socket.
    xen: BTreeMap<u32, u64>,
    pub xen_name: String,
    pub namespaces: BTreeSet<String>,
    pub pairs: BTreeMap<String, Pair>,
    /// A command that fails, by a part of its command line.
    pub fails: Option<&'static str>,
}

impl Default for Programs {
    fn default() -> Self {
        let all = |value| {
            [(0, 0), (0, 1), (1, 0), (1, 1)]
                .into_iter()
                .map(move |key| (key, value))
                .collect::<BTreeMap<_, _>>()
        };
        Self {
            pqos_masks: all(0xfffff),
            pqos_bandwidths: all(100),
            pqos_cores: [(0, 0), (1, 0), (2, 1), (3, 0)].into(),
            xen: [(0, 0xfffff), (1, 0xffff0)].into(),
            xen_name: "stream vm".to_owned(),
            namespaces: BTreeSet::new(),
            pairs: BTreeMap::new(),
            fails: None,
        }
    }
}

type Answer = Result<String, String>;

impl Programs {
    pub fn run(&mut self, program: &str, words: &[&str]) -> Output {
        let line = format!("{program} {}", words.join(" "));
        let answer = match program {
            _ if self.fails.is_some_and(|part| line.contains(part)) => Err("it was told to fail".to_owned()),
            "pqos" => self.pqos(words),
            "xl" => self.xl(words),
            "ip" => self.ip(words),
            "tc" => self.tc(words),
            _ => panic!("unexpected command {line}"),
        };
        let (is_success, stdout, stderr) = match answer {
            Ok(stdout) => (true, stdout, String::new()),
            Err(stderr) => (false, String::new(), stderr),
        };
        Output { is_success, stdout, stderr }
    }

    fn pqos(&mut self, words: &[&str]) -> Answer {
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).unwrap(),
            None => text.parse().unwrap(),
        };
        match words {
            ["-s"] => Ok(self.pqos_configuration()),
            ["-e", text] => {
                let (place, value) = text.split_once('=').unwrap();
                let (resource, place) = place.split_once('@').unwrap();
                let (socket, class) = place.split_once(':').unwrap();
                let key = (number(socket) as u32, number(class) as u32);
                let value = number(value);
                if resource == "mba" {
                    *self.pqos_bandwidths.get_mut(&key).ok_or("no class")? = value;
                } else {
                    check_mask(value);
                    *self.pqos_masks.get_mut(&key).ok_or("no class")? = value;
                }
                Ok("Allocation configuration altered.\n".to_owned())
            }
            ["-a", text] => {
                let (class, cores) = text.strip_prefix("core:").unwrap().split_once('=').unwrap();
                for core in cores.split(',') {
                    *self.pqos_cores.get_mut(&(number(core) as u32)).ok_or("no core")? = number(class) as u32;
                }
                Ok(String::new())
            }
            _ => panic!("unexpected arguments {words:?}"),
        }
    }

    fn pqos_configuration(&self) -> String {
        let mut text = String::from("NOTE:  Mixed use of MSR and kernel interfaces\n");
        for socket in [0, 1] {
            let _ = writeln!(text, "L3CA/MBA COS definitions for Socket {socket}:");
            for class in [0, 1] {
                let _ =
                    writeln!(text, "    L3CA COS{class} => MASK {:#x}", self.pqos_masks[&(socket, class)]);
            }
            for class in [0, 1] {
                let percent = self.pqos_bandwidths[&(socket, class)];
                let _ = writeln!(text, "    MBA COS{class} => {percent}% available");
            }
        }
        let _ = writeln!(text, "Core information for socket 0:");
        for (core, class) in &self.pqos_cores {
            let _ = writeln!(text, "    Core {core}, L2ID {core}, L3ID 0 => COS{class}, RMID0");
        }
        text
    }

    fn xl(&mut self, words: &[&str]) -> Answer {
        match words {
            ["psr-cat-show", "-l", "3"] => {
                let section = |(socket, mask): (&u32, &u64)| {
                    format!(
                        "{:<16}: {socket}\n{:<16}: 56320KB\n{:<16}: 0xfffff\n{:>5}{:>25}{:>16}\n{:>5}{:>25}{:>#16x}\n{:>5}{:>25}{mask:>#16x}\n",
                        "Socket ID",
                        "L3 Cache",
                        "Default CBM",
                        "ID",
                        "NAME",
                        "CBM",
                        0,
                        "Domain-0",
                        0xfffff,
                        4,
                        self.xen_name,
                    )
                };
                Ok(self.xen.iter().map(section).collect())
            }
            ["psr-cat-set", "-s", socket, "-l", "3", "4", mask] => {
                let mask = u64::from_str_radix(mask.strip_prefix("0x").unwrap(), 16).unwrap();
                check_mask(mask);
                *self.xen.get_mut(&socket.parse().unwrap()).ok_or("no socket")? = mask;
                Ok(String::new())
            }
            ["domname", "4"] => Ok(format!("{}\n", self.xen_name)),
            _ => panic!("unexpected arguments {words:?}"),
        }
    }

    fn ip(&mut self, words: &[&str]) -> Answer {
        match words {
            ["-V"] => {}
            ["route", "show", "table", "all", "root", _] => {}
            ["netns", "add", name] => {
                if !self.namespaces.insert((*name).to_owned()) {
                    return Err("File exists".to_owned());
                }
            }
            ["netns", "delete", name] => {
                if !self.namespaces.remove(*name) {
                    return Err("No such file or directory".to_owned());
                }
                // A namespace without processes ends with its interfaces.
                self.pairs.retain(|_, pair| pair.0 != *name);
            }
            ["link", "add", outside, "type", "veth", "peer", "name", inside, "netns", namespace] => {
                if !self.namespaces.contains(*namespace) {
                    return Err("Invalid \"netns\" value".to_owned());
                }
                let pair = ((*namespace).to_owned(), (*inside).to_owned(), Vec::new());
                self.pairs.insert((*outside).to_owned(), pair);
            }
            ["link", "delete", outside] => {
                self.pairs.remove(*outside).ok_or("Cannot find device")?;
            }
            ["-n", namespace, "link", "set", "lo", "up"] => {
                assert!(self.namespaces.contains(*namespace));
            }
            ["-n", namespace, rest @ ..] => self.configure(Some(namespace), rest)?,
            rest => self.configure(None, rest)?,
        }
        Ok(String::new())
    }

    fn tc(&mut self, words: &[&str]) -> Answer {
        match words {
            ["-V"] => {}
            ["-n", namespace, rest @ ..] => self.configure(Some(namespace), rest)?,
            rest => self.configure(None, rest)?,
        }
        Ok(String::new())
    }

    /// Configures an interface that was created; others must never be configured.
    fn configure(&mut self, namespace: Option<&str>, words: &[&str]) -> Result<(), String> {
        let pair = self.pairs.iter_mut().find_map(|(outside, (of, inside, configuration))| {
            let (is_here, name) = match namespace {
                Some(namespace) => (of == namespace, &*inside),
                None => (true, outside),
            };
            (is_here && words.contains(&name.as_str())).then_some(configuration)
        });
        pair.expect("an interface that was created").push(words.join(" "));
        Ok(())
    }

    pub fn snapshot(&self) -> BTreeMap<String, String> {
        [
            ("pqos masks", format!("{:?}", self.pqos_masks)),
            ("pqos bandwidths", format!("{:?}", self.pqos_bandwidths)),
            ("pqos cores", format!("{:?}", self.pqos_cores)),
            ("xen", format!("{:?}", self.xen)),
            ("namespaces", format!("{:?}", self.namespaces)),
            ("pairs", format!("{:?}", self.pairs)),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }
}

/// Every mask must be one that the hardware accepts.
fn check_mask(mask: u64) {
    assert!(mask != 0 && mask <= 0xfffff, "{mask:#x}");
    let shifted = mask >> mask.trailing_zeros();
    assert_eq!(shifted & (shifted + 1), 0, "{mask:#x} has gaps");
}
