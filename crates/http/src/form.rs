//! Renders the query and the body of a request from a sampler's arguments and files.

use busyhour_program::user::UserState;

use crate::charset::Charset;
use crate::encode;
use crate::failure::Failure;
use crate::settings::HttpSampler;
use crate::wire_request::WireRequest;

/// Appends the query that consists of a sampler's arguments (`getQueryString`). Values in an unknown charset are omitted.
pub(crate) fn query(sampler: &HttpSampler, user: &mut UserState, out: &mut String) {
    let charset = sampler.encoding.charset(user).ok();
    let mut first = true;
    let mut text = user.take_buffer();
    for argument in &sampler.arguments {
        text.clear();
        argument.name.render(user, &mut text);
        if text.is_empty() {
            continue;
        }
        if !first {
            out.push('&');
        }
        first = false;
        append(&text, argument.encode, out);
        text.clear();
        argument.value.render(user, &mut text);
        if argument.use_equals {
            out.push('=');
        }
        append_value(&text, argument.encode.then_some(charset), out);
    }
    user.give_back(text);
}

/// Appends a value unchanged, or encoded in the charset if it is known.
fn append_value(text: &str, encoded_in: Option<Option<Charset>>, out: &mut String) {
    match encoded_in {
        None => out.push_str(text),
        Some(None) => {}
        Some(Some(Charset::Utf8)) => encode::form(text, out),
        Some(Some(charset)) => {
            let mut bytes = Vec::new();
            charset.encode(text, &mut bytes);
            encode::form_bytes(&bytes, out);
        }
    }
}

fn append(text: &str, encoded: bool, out: &mut String) {
    if encoded { encode::form(text, out) } else { out.push_str(text) }
}

/// Renders the body of a request that has one (`setupHttpEntityEnclosingRequestData`).
pub(crate) async fn body(
    sampler: &HttpSampler,
    user: &mut UserState,
    request: &mut WireRequest,
) -> Result<(), Failure> {
    request.has_body = true;
    let charset = sampler.encoding.charset(user)?;
    let mut files = Vec::new();
    for file in &sampler.files {
        let path = file.path.text(user).into_owned();
        files.push((path, file.parameter.text(user).into_owned(), file.mime.text(user).into_owned()));
    }
    let as_body = files.len() == 1 && !files[0].0.is_empty() && files[0].1.is_empty();
    let complete = !files.is_empty() && files.iter().all(|(path, ..)| !path.is_empty());
    if sampler.multipart || (complete && !as_body) {
        return multipart(sampler, charset, user, request, &files).await;
    }
    let file_type = files.first().map(|(.., mime)| mime.as_str()).filter(|mime| !mime.is_empty());
    if sampler.arguments.is_empty() && as_body {
        if let Some(mime) = file_type.filter(|_| !request.has_content_type) {
            request.content_type.push_str(mime);
        }
        let content = load(sampler, &files[0].0).await?;
        request.body.extend_from_slice(&content);
        return Ok(());
    }
    if sends_values_as_body(sampler, user) {
        if let Some(mime) = file_type.filter(|_| !request.has_content_type) {
            request.content_type.push_str(mime);
        }
        let mut text = user.take_buffer();
        let mut encoded = user.take_buffer();
        for argument in &sampler.arguments {
            text.clear();
            argument.value.render(user, &mut text);
            append_value(&text, argument.encode.then_some(Some(charset)), &mut encoded);
        }
        charset.encode(&encoded, &mut request.body);
        request.entity_type.push_str("text/plain; charset=");
        request.entity_type.push_str(charset.name());
        user.give_back(text);
        user.give_back(encoded);
        return Ok(());
    }
    form(sampler, charset, user, request);
    Ok(())
}

/// Whether no argument has a name. In this case, the values form the body.
pub(crate) fn sends_values_as_body(sampler: &HttpSampler, user: &mut UserState) -> bool {
    sampler.raw_body
        || (!sampler.arguments.is_empty()
            && sampler.arguments.iter().all(|argument| match argument.name.as_literal() {
                Some(name) => name.is_empty(),
                None => argument.name.text(user).is_empty(),
            }))
}

fn form(sampler: &HttpSampler, charset: Charset, user: &mut UserState, request: &mut WireRequest) {
    let mut first = true;
    let mut out = user.take_buffer();
    for argument in &sampler.arguments {
        let mut name = argument.name.text(user).into_owned();
        if name.trim().is_empty() {
            continue;
        }
        let mut value = argument.value.text(user).into_owned();
        if !argument.encode {
            // The plan contains the encoded name. It is decoded here, because the code below encodes it.
            name = decoded(&name, charset).unwrap_or(name);
            value = decoded(&value, charset).unwrap_or(value);
        }
        if !first {
            out.push('&');
        }
        first = false;
        for (text, before) in [(&name, ""), (&value, "=")] {
            out.push_str(before);
            let mut bytes = Vec::new();
            charset.encode(text, &mut bytes);
            encode::form_bytes(&bytes, &mut out);
        }
    }
    request.body.extend_from_slice(out.as_bytes());
    request.entity_type.push_str("application/x-www-form-urlencoded; charset=");
    request.entity_type.push_str(charset.name());
    user.give_back(out);
}

/// Decodes `%xx` and `+` in the charset; `None` if an escape is truncated or not hexadecimal.
fn decoded(text: &str, charset: Charset) -> Option<String> {
    if charset == Charset::Utf8 {
        return encode::form_decode(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['%', '+']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after_plus) = rest.strip_prefix('+') {
            out.push(' ');
            rest = after_plus;
            continue;
        }
        let mut bytes = Vec::new();
        while rest.starts_with('%') {
            bytes.push(u8::from_str_radix(rest.get(1..3)?, 16).ok()?);
            rest = &rest[3..];
        }
        out.push_str(&charset.decode(&bytes));
    }
    out.push_str(rest);
    Some(out)
}

async fn load(sampler: &HttpSampler, path: &str) -> Result<std::sync::Arc<[u8]>, Failure> {
    sampler.shared.files.content(path).await.map_err(|error| {
        let reason = if error.kind() == std::io::ErrorKind::NotFound {
            "No such file or directory".to_owned()
        } else {
            error.to_string()
        };
        let path = sampler.shared.files.resolve(path);
        Failure::new("java.io.FileNotFoundException", format!("{} ({reason})", path.display()))
    })
}

async fn multipart(
    sampler: &HttpSampler,
    charset: Charset,
    user: &mut UserState,
    request: &mut WireRequest,
    files: &[(String, String, String)],
) -> Result<(), Failure> {
    drop_content_type(request);
    // Names of parts are UTF-8 unless the request is browser-compatible.
    let charset_of_names = if sampler.browser_compatible { charset } else { Charset::Utf8 };
    let boundary = boundary(user);
    let mut body = Vec::new();
    for argument in &sampler.arguments {
        let name = argument.name.text(user).into_owned();
        if name.trim().is_empty() {
            continue;
        }
        let value = argument.value.text(user).into_owned();
        part_head(&mut body, &boundary, charset_of_names, &name, None);
        if !sampler.browser_compatible {
            let mime = argument.content_type.text(user);
            let mime = if mime.is_empty() { "text/plain" } else { &*mime };
            body.extend_from_slice(b"Content-Type: ");
            body.extend_from_slice(mime.as_bytes());
            if !mime.contains(';') {
                body.extend_from_slice(b"; charset=");
                body.extend_from_slice(charset.name().as_bytes());
            }
            body.extend_from_slice(b"\r\nContent-Transfer-Encoding: 8bit\r\n");
        }
        body.extend_from_slice(b"\r\n");
        charset.encode(&value, &mut body);
        body.extend_from_slice(b"\r\n");
    }
    for (path, parameter, mime) in files {
        if mime.trim().is_empty() {
            return Err(Failure::new("org.apache.http.ParseException", "Invalid content type: "));
        }
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        part_head(&mut body, &boundary, charset_of_names, parameter, Some(name));
        body.extend_from_slice(b"Content-Type: ");
        body.extend_from_slice(mime.as_bytes());
        body.extend_from_slice(b"\r\n");
        if !sampler.browser_compatible {
            body.extend_from_slice(b"Content-Transfer-Encoding: binary\r\n");
        }
        body.extend_from_slice(b"\r\n");
        let content = load(sampler, path).await?;
        body.extend_from_slice(&content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--");
    body.extend_from_slice(boundary.as_bytes());
    body.extend_from_slice(b"--\r\n");
    request.body = body;
    request.entity_type.push_str("multipart/form-data; boundary=");
    request.entity_type.push_str(&boundary);
    request.entity_type.push_str("; charset=");
    request.entity_type.push_str(charset.name());
    Ok(())
}

fn drop_content_type(request: &mut WireRequest) {
    if !request.names_content_type {
        return;
    }
    request.has_content_type = false;
    request.names_content_type = false;
    let lines = std::mem::take(&mut request.headers);
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let is_content_type = line.len() > 13 && line[..13].eq_ignore_ascii_case(b"content-type:");
        if !is_content_type {
            request.headers.extend_from_slice(line);
        }
    }
}

fn part_head(body: &mut Vec<u8>, boundary: &str, charset: Charset, name: &str, file: Option<&str>) {
    body.extend_from_slice(b"--");
    body.extend_from_slice(boundary.as_bytes());
    body.extend_from_slice(b"\r\nContent-Disposition: form-data; name=\"");
    charset.encode(&name.replace('\\', "\\\\").replace('"', "\\\""), body);
    body.push(b'"');
    if let Some(file) = file {
        body.extend_from_slice(b"; filename=\"");
        let mut escaped = String::new();
        for character in file.chars() {
            // JMeter escapes these characters like browsers.
            match character {
                '"' => escaped.push_str("%22"),
                '\n' => escaped.push_str("%0A"),
                '\r' => escaped.push_str("%0D"),
                other => escaped.push(other),
            }
        }
        charset.encode(&escaped, body);
        body.push(b'"');
    }
    body.extend_from_slice(b"\r\n");
}

/// Generates a boundary of 30 to 40 characters, like HttpClient, from the user's own random numbers.
fn boundary(user: &mut UserState) -> String {
    use rand::Rng as _;
    const ALPHABET: &[u8] = b"-_1234567890abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let length = user.random.random_range(30..=40);
    (0..length).map(|_| char::from(ALPHABET[user.random.random_range(0..ALPHABET.len())])).collect()
}
