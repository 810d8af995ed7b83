//! Conditional comments of Internet Explorer, as far as JMeter evaluates them.

/// The version of Internet Explorer that a user agent claims to be (`MSIE 8.0`).
pub(super) fn explorer_version(user_agent: &str) -> Option<f32> {
    user_agent.match_indices("MSIE ").find_map(|(at, word)| {
        let text = &user_agent[at + word.len()..];
        let whole = text.bytes().take_while(u8::is_ascii_digit).count();
        // Any single character separates the numbers.
        let after = text[whole..].chars().next().filter(|_| whole > 0)?;
        let tail = &text[whole + after.len_utf8()..];
        let part = tail.bytes().take_while(u8::is_ascii_digit).count();
        if part == 0 {
            return None;
        }
        format!("{}{after}{}", &text[..whole], &tail[..part]).parse().ok()
    })
}

/// Whether a condition (`gt IE 6`, `(IE 7)|(IE 8)`) holds; a condition without a version never does.
pub(super) fn holds(condition: &str, explorer: f32) -> bool {
    let condition = condition.replace(['(', ')'], "");
    condition.split('&').all(|all| all.split('|').any(|single| single_holds(single.trim(), explorer)))
}

fn single_holds(condition: &str, explorer: f32) -> bool {
    type Test = fn(f32, f32, f32) -> bool;
    // JMeter compares an integer only with the major version, but forgets this for `lt` and `gte`.
    const TESTS: [(&str, Test); 6] = [
        ("IE ", |version, _, number| version == number),
        ("!IE ", |version, _, number| version != number),
        ("lt IE ", |_, exact, number| exact < number),
        ("lte IE ", |version, _, number| version <= number),
        ("gt IE ", |version, _, number| version > number),
        ("gte IE ", |_, exact, number| exact >= number),
    ];
    let found = TESTS.iter().find_map(|(word, test)| Some((condition.strip_prefix(word)?, test)));
    let Some((number, test)) = found else { return false };
    let Ok(number) = number.trim().parse::<f32>() else { return false };
    let version = if number.fract() == 0.0 { explorer.trunc() } else { explorer };
    test(version, explorer, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_conditions_are_evaluated() {
        assert_eq!(explorer_version("Mozilla/4.0 (compatible; MSIE 5.5; Windows)"), Some(5.5));
        assert_eq!(explorer_version("Mozilla/5.0 (rv:11.0) Gecko"), None);
        assert_eq!(explorer_version("MSIE 7"), None);
        for (condition, at_5_5) in [
            ("IE", false),
            ("IE 5", true),
            ("IE 5.5", true),
            ("!IE 6", true),
            ("lt IE 6", true),
            ("lte IE 5", true),
            ("gt IE 5", false),
            ("gte IE 5.5", true),
            ("(IE 6)|(IE 5)", true),
            ("(gt IE 5)&(lt IE 6)", false),
        ] {
            assert_eq!(holds(condition, 5.5), at_5_5, "{condition}");
        }
    }
}
