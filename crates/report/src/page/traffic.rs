//! Sent and received bytes.

use busyhour_analysis::{Row, Summary};
use maud::{Markup, html};

use super::columns::{TableColumn, cells, column_heads};
use super::markup::{PlotHeight, Section, def, figure, quantity, scrolling};
use crate::numbers::{rate, size, thousands};
use crate::terminal_text::shown_label;

/// The section of sent and received bytes.
pub(super) fn traffic(summary: &Summary) -> Section {
    let total = &summary.total;
    let body = match (total.samples, total.bytes + total.sent_bytes) {
        (0, _) => html! { p { "No request ended." } },
        (_, 0) => html! { p { "Not recorded." } },
        _ => {
            let caption = html! {
                (def("received", "Received")) " " (size(total.bytes)) " in total, " (quantity("total.received_kib_per_s", rate(total.received_kib_per_s)))
                " KiB per second; " (def("sent", "sent")) " " (size(total.sent_bytes)) ", "
                (quantity("total.sent_kib_per_s", rate(total.sent_kib_per_s))) " KiB per second."
            };
            html! {
                (figure("traffic", PlotHeight::Low, caption))
                details {
                    summary { "By label" }
                    (scrolling("Sent and received by label", table(summary)))
                }
            }
        }
    };
    Section { id: "traffic", title: "Sent and received", body }
}

fn table(summary: &Summary) -> Markup {
    let each = |row: &Row, bytes: u64| {
        let mean = (row.samples > 0).then(|| (bytes as f64 / row.samples as f64).round() as u64);
        mean.map_or_else(|| "–".to_owned(), thousands)
    };
    type Cells<'a> = TableColumn<'a, Row>;
    let columns = [
        Cells::text("label", |row| shown_label(&row.label)),
        Cells::number("received KiB/s", |row| rate(row.received_kib_per_s)).term("received"),
        Cells::number("bytes each", |row| each(row, row.bytes)).term("received"),
        Cells::number("sent KiB/s", |row| rate(row.sent_kib_per_s)).term("sent"),
        Cells::number("bytes each", |row| each(row, row.sent_bytes)).term("sent"),
    ];
    html! {
        table.wide.sortable data-quantities="received_kib_per_s - sent_kib_per_s -" {
            caption.skip { "Sent and received by label" }
            (column_heads(&columns))
            tbody {
                @for (at, row) in summary.labels.iter().enumerate() {
                    tr data-row={ "labels." (at) } { (cells(&columns, at, row)) }
                }
            }
            tfoot { tr data-row="total" { (cells(&columns, 0, &summary.total)) } }
        }
    }
}
