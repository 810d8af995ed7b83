//! Applies the first line of the input, as a regular expression, an XPath expression and a function, to the other
//! lines.

#![no_main]

use std::ops::ControlFlow;

use busyhour_oro::Pattern;
use busyhour_program::symbols::Symbols;
use busyhour_xml::{ReadOptions, evaluate, expression_error, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(data) = std::str::from_utf8(data) else { return };
    let (expression, text) = data.split_once('\n').unwrap_or((data, ""));
    if let Ok(pattern) = Pattern::compile(expression) {
        let _ = pattern.contains(text);
        let _ = pattern.matches(text);
        let _ = pattern.each_match(text, |groups| {
            assert!(groups.whole().end <= text.len());
            (0..=pattern.groups())
                .for_each(|group| assert!(groups.get(group).is_none_or(|found| text.contains(found))));
            ControlFlow::Continue(())
        });
    }
    let _ = expression_error(expression);
    if let Ok(document) = read(text, ReadOptions { sorted: true, ..ReadOptions::default() }) {
        let _ = evaluate(&document, expression, &document.declared);
    }
    let _ = busyhour_functions::parse(expression, &mut Symbols::default());
});
