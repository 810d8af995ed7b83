//! Tables whose columns are declared once: each column has its head and the cell of a row.

use maud::{Markup, Render, html};

use super::markup::{Column, Sort, head};

/// A column of a table whose rows are values of type `T`. The first column of a table contains the names of the rows.
pub(super) struct TableColumn<'a, T> {
    head: Column,
    cell: Box<dyn Fn(&T) -> Markup + 'a>,
    class: Option<fn(&T) -> &'static str>,
    /// Returns the path in `summary.json` of the number in the row with the given index.
    quantity: Option<fn(usize) -> String>,
}

impl<'a, T> TableColumn<'a, T> {
    fn new<R: Render>(name: &'static str, sort: Sort, cell: impl Fn(&T) -> R + 'a) -> Self {
        let head = Column { name, term: "", sort };
        Self { head, cell: Box::new(move |item| cell(item).render()), class: None, quantity: None }
    }

    /// A column of numbers, by which the table can be sorted.
    pub(super) fn number<R: Render>(name: &'static str, cell: impl Fn(&T) -> R + 'a) -> Self {
        Self::new(name, Sort::Number, cell)
    }

    /// A column of texts, by which the table can be sorted.
    pub(super) fn text<R: Render>(name: &'static str, cell: impl Fn(&T) -> R + 'a) -> Self {
        Self::new(name, Sort::Text, cell).class(|_| "text")
    }

    /// A column of texts in a table that cannot be sorted.
    pub(super) fn words<R: Render>(name: &'static str, cell: impl Fn(&T) -> R + 'a) -> Self {
        Self::new(name, Sort::Words, cell).class(|_| "text")
    }

    /// A column by which the table cannot be sorted.
    pub(super) fn plain<R: Render>(name: &'static str, cell: impl Fn(&T) -> R + 'a) -> Self {
        Self::new(name, Sort::No, cell)
    }

    /// Links the heading to this term of the glossary.
    pub(super) fn term(mut self, term: &'static str) -> Self {
        self.head.term = term;
        self
    }

    /// Sets the function that returns the CSS class of a cell.
    pub(super) fn class(mut self, class: fn(&T) -> &'static str) -> Self {
        self.class = Some(class);
        self
    }

    /// Marks the numbers with their paths in `summary.json`.
    pub(super) fn quantity(mut self, path: fn(usize) -> String) -> Self {
        self.quantity = Some(path);
        self
    }
}

/// The heading of a table.
pub(super) fn column_heads<T>(columns: &[TableColumn<'_, T>]) -> Markup {
    head(columns.iter().map(|column| &column.head))
}

/// The cells of the row with this index.
pub(super) fn cells<T>(columns: &[TableColumn<'_, T>], index: usize, item: &T) -> Markup {
    html! {
        @for (at, column) in columns.iter().enumerate() {
            @if at == 0 {
                th scope="row" { ((column.cell)(item)) }
            } @else {
                td class=[column.class.map(|class| class(item))]
                    data-quantity=[column.quantity.map(|path| path(index))]
                {
                    ((column.cell)(item))
                }
            }
        }
    }
}

/// A sortable table with a row per item. It scrolls if it is wider than the page.
pub(super) fn sortable_table<'i, T: 'i>(
    caption: &str,
    columns: &[TableColumn<'_, T>],
    items: impl IntoIterator<Item = &'i T>,
) -> Markup {
    html! {
        table.wide.sortable {
            caption.skip { (caption) }
            (column_heads(columns))
            tbody {
                @for (index, item) in items.into_iter().enumerate() { tr { (cells(columns, index, item)) } }
            }
        }
    }
}
