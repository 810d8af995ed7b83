use super::*;

fn text(body: &str) -> String {
    document_text(body.as_bytes()).unwrap().into_owned()
}

#[test]
fn the_text_of_a_page_is_that_of_its_body() {
    for (page, expected) in [
        (
            "<html><head><title>A title</title><style>p {}</style><script>var x;</script></head><body><h1>Head</h1><p>one  two\n\
             three</p><p>four<b>bold</b><i> it</i></p><ul><li>item 1</li><li>item 2</li></ul><a href='/x'>link</a><br>after<br/>more \
             &amp; &lt;less&gt; &eacute; &nbsp;x</body></html>",
            "Head\none  two\nthree\nfourbold it\n\titem 1\n\titem 2\n\nlink\nafter\nmore & <less> é \u{a0}x",
        ),
        (
            "<!DOCTYPE html><html><body><table><tr><td>a</td><td>b</td></tr><tr><th>c</th><td>d</td></tr></table><div>d1<div>d2</div>\
             </div><img alt='alt text' src='i.png'><form><input value='v' type='text'><textarea>area</textarea><select><option>o1\
             </option><option selected>o2</option></select><button>press</button></form><pre>  pre\n  formatted </pre><!-- comment -->\
             <noscript>no</noscript></body></html>",
            "\ta\tb\n\tc\td\n\nd1d2\n\nareao1\no2\n\npress\n  pre\n  formatted \nno\n",
        ),
        ("<html><body>unclosed <b>bold <p>para <i>x</b> y</html>", "unclosed bold para x y\n"),
        (
            "<html>\n<head>\n<title>T</title>\n</head>\n<body>\n  <div id=\"x\">\n    <h2>Hello</h2>\n    <p>\n      some text,\n      \
             wrapped\n    </p>\n  </div>\n</body>\n</html>\n",
            "\n  \n    Hello\n\n    \n      some text,\n      wrapped\n    \n\n  \n\n",
        ),
        (
            "<html>\n<body>\n<table>\n  <tr>\n    <td>1</td>\n    <td>2</td>\n  </tr>\n</table>\n<ul>\n  <li>a</li>\n</ul>\n</body>",
            "\n\t1\t2\n\n\n\ta\n\n\n",
        ),
        (
            "<html><body><p>a</p>\n\n\n<p>b</p>   <span>c</span> <span>d</span></body></html>",
            "a\n\n\n\nb\n   c d",
        ),
        ("<div>frag <b>x</b></div>", "frag x\n"),
        ("<!-- c -->\n<!DOCTYPE html><html><body>com</body></html>", "com"),
        ("<?xml version=\"1.0\"?><html><body>no ns</body></html>", "no ns"),
        ("<html><head><title>only</title></head></html>", NO_TEXT),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn the_text_of_xml_has_a_space_before_each_element() {
    for (document, expected) in [
        ("<?xml version=\"1.0\"?><r><a x=\"1\">one</a><b>two</b>\n <c>three</c></r>", "  one two\n  three\n"),
        (
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- note -->\n<root xmlns=\"urn:x\"><item><![CDATA[<raw> & x]]></item><e/>\
             tail</root>",
            "  <raw> & x tail\n",
        ),
        (
            "<?xml version=\"1.0\"?>\n<r>\n  <a>1</a>\n  <!-- c -->\n  <?pi x?>\n  <b/>\n</r>",
            " \n   1\n  \n  \n   \n\n",
        ),
        ("<?xml version=\"1.0\"?><broken><a>x</broken>", XML_ERROR),
    ] {
        assert_eq!(text(document), expected, "{document}");
    }
}

#[test]
fn plain_text_ends_with_a_line_end() {
    for plain in [
        "just text",
        "a  b\nc <d> &amp; é",
        "{\"a\": 1}",
        "<r><a>one</a></r>",
        "<p>fragment</p>",
        " <?xml version=\"1.0\"?><a/>",
    ] {
        assert_eq!(text(plain), format!("{plain}\n"));
    }
    assert_eq!(text(""), EMPTY);
    assert_eq!(document_text(b"caf\xe9 bar").unwrap(), "café bar\n");
}

#[test]
fn documents_of_other_kinds_are_errors() {
    for body in [&b"%PDF-1.4"[..], b"PK\x03\x04", b"a\x00b", b"From: a@b\nSubject: x\n\nmail"] {
        assert!(document_text(body).is_err(), "{body:?}");
    }
}
