//! The URLs of `--send`, to which the metrics of a run are sent. The scheme of a URL is the format.

use busyhour_launch::ExportSettings;
use busyhour_terminal::command_error::CommandError;

/// The forms of URLs, for messages.
const FORMS: &str = "prometheus://:9646, otlp+http://HOST:4318/v1/metrics, influx+http://HOST:8086/write?db=jmeter, \
    influx+udp://HOST:PORT, graphite://HOST:2003, remote-write+http://HOST:9090/api/v1/write";

/// Adds the targets in `urls` to the settings.
pub(crate) fn add(settings: &mut ExportSettings, urls: &[String]) -> Result<(), CommandError> {
    for url in urls {
        let (target, value) = target(settings, url)?;
        if target.replace(value).is_some() {
            return Err(format!("--send {url}: there is already a target of this kind").into());
        }
    }
    Ok(())
}

/// The setting that a URL selects, and its value.
fn target<'s>(
    settings: &'s mut ExportSettings,
    url: &str,
) -> Result<(&'s mut Option<String>, String), CommandError> {
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| format!("--send {url}: not a URL with a format as its scheme, e.g. {FORMS}"))?;
    let address = rest.trim_end_matches('/');
    let (format, transport) = scheme.split_once('+').unwrap_or((scheme, ""));
    let sent = || format!("{transport}://{rest}");
    match (format, transport) {
        // Without a host, the server listens only on the loopback address, so that other machines cannot connect.
        ("prometheus", "") if address.starts_with(':') => {
            Ok((&mut settings.prometheus, format!("127.0.0.1{address}")))
        }
        ("prometheus", "") => Ok((&mut settings.prometheus, address.to_owned())),
        ("graphite", "" | "tcp") => Ok((&mut settings.graphite, address.to_owned())),
        ("otlp", "http" | "https") => Ok((&mut settings.otlp, sent())),
        ("influx", "http" | "https" | "udp") => Ok((&mut settings.influx, sent())),
        ("remote-write", "http" | "https") => Ok((&mut settings.remote_write, sent())),
        ("http" | "https", "") => Err(format!(
            "--send {url}: the format is missing; write otlp+{url}, influx+{url} or remote-write+{url}"
        )
        .into()),
        _ => {
            let known = ["prometheus", "otlp", "influx", "graphite", "remote-write"];
            let near = busyhour_arrivals::nearest(format, &known).filter(|near| *near != format);
            let near = near.map(|near| format!("; did you mean {near}?")).unwrap_or_default();
            Err(format!("--send {url}: {scheme:?} is not a known format{near}\n  hint: formats are {FORMS}")
                .into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(urls: &[&str]) -> Result<ExportSettings, CommandError> {
        let mut settings = ExportSettings::default();
        let urls: Vec<String> = urls.iter().map(|&url| url.to_owned()).collect();
        add(&mut settings, &urls).map(|()| settings)
    }

    #[test]
    fn schemes_select_formats() {
        let all = settings(&[
            "prometheus://:9646",
            "otlp+http://h:4318/v1/metrics",
            "influx+http://h:8086/write?db=jmeter",
            "graphite://h:2003",
            "remote-write+https://h/api/v1/write",
        ]);
        let expected = ExportSettings {
            prometheus: Some("127.0.0.1:9646".into()),
            otlp: Some("http://h:4318/v1/metrics".into()),
            influx: Some("http://h:8086/write?db=jmeter".into()),
            graphite: Some("h:2003".into()),
            remote_write: Some("https://h/api/v1/write".into()),
            ..ExportSettings::default()
        };
        assert_eq!(all, Ok(expected));
        let udp = settings(&["influx+udp://h:8089", "prometheus://0.0.0.0:0/"]).unwrap_or_default();
        assert_eq!(
            (udp.influx.as_deref(), udp.prometheus.as_deref()),
            (Some("udp://h:8089"), Some("0.0.0.0:0"))
        );
    }

    #[test]
    fn wrong_urls_are_explained() {
        for (url, words) in [
            ("localhost:9646", "not a URL with a format"),
            ("http://h:4318", "write otlp+http://h:4318"),
            ("prometeus://:1", "did you mean prometheus?"),
            ("graphite+udp://h:1", "\"graphite+udp\" is not a known format"),
        ] {
            let error = settings(&[url]).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        assert!(
            settings(&["graphite://a:1", "graphite://b:1"])
                .unwrap_err()
                .to_string()
                .contains("already a target")
        );
    }
}
