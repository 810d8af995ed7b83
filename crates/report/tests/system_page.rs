//! The section on the observed system: its structure without the script, and its bounds.

mod observed;

use std::path::Path;

use busyhour_analysis::{RunFacts, Summary};
use busyhour_gclog::{GC_FILE_NAME, GC_FILE_VERSION, GcFile, GcLogReader, GcSource, GcSummary};
use busyhour_record::{Recorder, RecorderConfig, RunDir};
use busyhour_report::{html_report, html_report_with_system};
use busyhour_results::{SystemRecord, add_observed};
use observed::ObservedFile;

/// The summary of a run without requests.
fn summary() -> Summary {
    let (recorder, writers) = Recorder::start(RecorderConfig::default()).unwrap();
    drop(writers);
    Summary::new(RunFacts { duration_s: Some(60.0), ..RunFacts::default() }, &recorder.finish())
}

fn page_of(dir: &Path) -> String {
    let (run, mut summary) = (RunDir::open(dir), summary());
    add_observed(&run, None, &mut summary);
    let record = SystemRecord::of_summary(&run, &summary);
    html_report_with_system(&summary, record.as_ref())
}

fn page(file: &ObservedFile) -> String {
    let dir = tempfile::tempdir().unwrap();
    file.write(dir.path());
    page_of(dir.path())
}

/// The section without the rest of the page.
fn section(page: &str) -> &str {
    let from = page.find("<section id=\"system\"").unwrap();
    &page[from..from + page[from..].find("</section>").unwrap()]
}

/// The texts of the elements with these tags, in their order.
fn texts(html: &str, tags: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for part in html.split('<').skip(1) {
        let Some((tag, text)) = part.split_once('>') else { continue };
        if tags.contains(&tag) {
            found.push(format!("{}{text}", if tag == "h4" { "  " } else { "" }));
        }
    }
    found
}

#[test]
fn a_page_without_an_observation_has_no_section() {
    let page = html_report(&summary());
    assert!(
        !page.contains("id=\"system\"") && !page.contains("\"system\":") && !page.contains("\"events\":")
    );
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(page_of(dir.path()), page);
}

#[test]
fn all_resources_have_panels_and_tables_without_the_script() {
    let dir = tempfile::tempdir().unwrap();
    observed::shop(60).write(dir.path());
    observed::write_logs(dir.path());
    observed::write_sources(dir.path());
    let page = page_of(dir.path());
    let section = section(&page);
    insta::assert_snapshot!(texts(section, &["h3", "h4"]).join("\n"));
    assert_eq!(section.matches("<figure").count(), section.matches("<div class=\"static-plot\"").count());
    for text in [
        "Threads waiting for a CPU: unavailable, because the kernel was built without CONFIG_SCHEDSTATS.",
        "Always 0: ",
        "Observing took 0.42 % of one core.",
        "deployed 1.4",
        "&lt;script&gt;alert(1)&lt;/script&gt; &lt;*&gt;",
        "The file system resctrl is not mounted",
        "The processor's counters are not visible in this virtual machine.",
        "nginx (812)",
    ] {
        assert!(section.contains(text), "{text} is missing");
    }
}

#[test]
fn a_panel_is_a_table_with_an_image() {
    let mut file = ObservedFile::new();
    let os = file.source("os");
    file.gauge(os, "node_procs_running", &[], |second| second);
    file.readings(4);
    let page = page(&file);
    let from = page.find("<figure class=\"plot panel\"").unwrap();
    let figure = &page[from..from + page[from..].find("</figure>").unwrap()];
    insta::assert_snapshot!(figure.replace("><", ">\n<"));
}

/// Writes `gc.json` with a log of young collections, each second one, and a full one after each ninth.
fn write_gc(dir: &Path) {
    let mut reader = GcLogReader::new();
    reader.line("[0.005s][info][gc] Using Parallel");
    for at in 0..120 {
        let kind = if at % 9 == 0 { "Full (<Cause>)" } else { "Young (Allocation Failure)" };
        reader
            .line(&format!("[{at}.500s][info][gc] GC({at}) Pause {kind} 60M->{}M(96M) 4.000ms", 20 + at % 9));
    }
    let source = GcSource {
        name: "gc:logs/gc.log".into(),
        origin_s: Some(10.0),
        uncertainty_s: Some(0.25),
        summary: GcSummary::of(&reader.finish()),
    };
    let file = GcFile { version: GC_FILE_VERSION, sources: vec![source] };
    std::fs::write(dir.join(GC_FILE_NAME), serde_json::to_vec(&file).unwrap()).unwrap();
}

#[test]
fn the_analysis_of_a_gc_log_is_a_folded_part_of_the_page() {
    let dir = tempfile::tempdir().unwrap();
    write_gc(dir.path());
    let page = page_of(dir.path());
    let section = section(&page);
    for words in [
        "<h3>Garbage collection in gc:logs/gc.log</h3>",
        "Parallel, the part of the log within the run. Times are those of the run; they may be off by 250 ms.",
        "120 pauses stopped the application for 480 ms",
        "<th scope=\"row\">&lt;Cause&gt;</th><td>14</td>",
        "<h4>Pauses over time</h4>",
        // From 0.5 s to 119.5 s on the log's clock.
        ">10.5 s</text>",
        ">2 min 10 s</text>",
    ] {
        assert!(section.contains(words), "{words}");
    }
    assert_eq!(section.matches("<svg class=\"still\"").count(), 4);
    assert!(!section.contains("gc.html"), "the page is complete without another file");
    let bytes = section.len();
    assert!(bytes < 80_000, "{bytes}");

    std::fs::write(dir.path().join(GC_FILE_NAME), "{\"version\":2}").unwrap();
    assert!(page_of(dir.path()).contains("gc.json has version 2; this program reads version 1."));
}

#[test]
fn a_torn_file_is_shown_up_to_the_damage() {
    let mut file = observed::shop(20);
    file.bytes.truncate(file.bytes.len() - 5);
    let page = page(&file);
    assert!(
        section(&page).contains("The series file ends in the middle of a reading at byte"),
        "{}",
        section(&page)
    );
    assert!(section(&page).contains("<h4>CPU time</h4>"));
}

#[test]
fn a_file_that_contains_only_reasons_shows_them() {
    let mut file = ObservedFile::new();
    let os = file.source("os");
    file.unavailable(os, "node_procs_running", "no permission to read /proc/stat");
    let page = page(&file);
    let section = section(&page);
    assert!(section.contains("No values were recorded."), "{section}");
    assert!(
        section.contains("Run queue: unavailable, because no permission to read /proc/stat."),
        "{section}"
    );
}

#[test]
fn a_thousand_series_of_an_hour_make_a_page_of_bounded_size() {
    let mut file = ObservedFile::new();
    let os = file.source("os");
    for device in 0..100_u32 {
        let name = format!("disk-{device}");
        let of = &[("device", name.as_str())];
        let level = f64::from(device);
        for metric in
            ["node_disk_read_bytes_total", "node_disk_written_bytes_total", "node_disk_io_time_seconds_total"]
        {
            file.rate(os, metric, of, move |second| level + second.sin().abs() * 1e6);
        }
        file.gauge(os, "busyhour_disk_await_seconds", of, move |second| level + second.cos().abs() / 7.0);
    }
    let exporter = file.source("prometheus:http://sut:9100/metrics");
    for number in 0..600_u32 {
        let level = f64::from(number);
        file.gauge(exporter, &format!("shop_metric_{number}"), &[], move |second| level + second.sin() / 3.0);
    }
    file.readings(3_600);
    let page = page(&file);
    let bare = html_report(&summary());
    let added = page.len() - bare.len();
    assert!(added < 1_000_000, "{added} bytes");
    assert!(page.contains("The largest of 100 lines."));
    assert!(page.contains("Recorded metrics that the page does not show"));
}

#[test]
fn ten_thousand_processes_make_a_page_of_bounded_size() {
    let mut file = ObservedFile::new();
    for pid in 0..10_000_u32 {
        let source = file.source(&format!("process:{pid}"));
        let cores = f64::from(pid % 100) / 100.0;
        file.rate(source, "process_cpu_seconds_total", &[], move |_| cores);
        file.gauge(source, "process_resident_memory_bytes", &[], move |_| 1e6 * cores);
        file.gauge(source, "process_threads", &[], move |second| cores + second);
        file.rate(source, "process_context_switches_total", &[("kind", "involuntary")], |_| 1.0);
        file.unavailable(source, "process_open_fds", "no permission");
    }
    file.readings(5);
    let page = page(&file);
    let added = page.len() - html_report(&summary()).len();
    assert!(added < 400_000, "{added} bytes");
    assert!(page.contains("9,970 more processes used"), "the rest is added up");
    assert!(page.contains("9,800 more sources"));
}
