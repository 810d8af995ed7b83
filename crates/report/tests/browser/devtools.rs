//! A headless Chromium, controlled by the DevTools protocol over two pipes.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Maximum time to wait for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser with one page.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    /// Events that arrived before the awaited answer.
    events: VecDeque<Value>,
    session: String,
    last_id: u64,
    _profile: tempfile::TempDir,
}

/// How a page is shown.
#[derive(Clone, Copy, Debug)]
pub struct Screen {
    pub width: u32,
    pub height: u32,
    pub is_dark: bool,
}

/// A Chromium on this machine.
pub fn installed() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path).flat_map(|dir| names.map(|name| dir.join(name))).find(|file| file.is_file())
}

impl Browser {
    pub fn start(program: &Path) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        // The browser reads commands from descriptor 3 and answers on 4, each message ended by a zero byte.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 1>&2 </dev/null"])
            .arg(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--disable-dev-shm-usage",
                "--remote-debugging-pipe",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let answers = process.stdout.take().unwrap();
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            for message in BufReader::new(answers).split(0) {
                let Ok(message) = message.map(|bytes| serde_json::from_slice(&bytes).unwrap()) else {
                    return;
                };
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        let commands = process.stdin.take().unwrap();
        let mut browser = Browser {
            process,
            commands,
            messages,
            events: VecDeque::new(),
            session: String::new(),
            last_id: 0,
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session =
            browser.call("Target.attachToTarget", attach)["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file. `before` is a script that runs before the page's own. Errors of earlier pages are discarded.
    pub fn open(&mut self, file: &Path, screen: Screen, before: &str) {
        self.open_url(&format!("file://{}", file.display()), screen, before);
    }

    /// Like [`Browser::open`], with a URL.
    pub fn open_url(&mut self, url: &str, screen: Screen, before: &str) {
        let Screen { width, height, is_dark } = screen;
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": scheme }] });
        self.call("Emulation.setEmulatedMedia", media);
        let script = self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": before }));
        self.events.clear();
        self.call("Page.navigate", json!({ "url": url }));
        self.wait_for("Page.loadEventFired");
        self.call("Page.removeScriptToEvaluateOnNewDocument", json!({ "identifier": script["identifier"] }));
        // Waits until the page is drawn and observers have been notified.
        self.evaluate(
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))",
        );
    }

    /// Runs all further pages at 1/`factor` of the machine's speed.
    pub fn slow_down(&mut self, factor: f64) {
        self.call("Emulation.setCPUThrottlingRate", json!({ "rate": factor }));
    }

    /// The value of an expression in the page. If it is a promise, waits for its result.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let ask = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", ask);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key.
    pub fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Errors reported by the page or the browser.
    pub fn errors(&mut self) -> Vec<String> {
        // All events before this response have arrived.
        self.evaluate("0");
        let of = |event: &Value| match event["method"].as_str()? {
            "Runtime.exceptionThrown" => Some(event["params"]["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if event["params"]["type"] == "error" => {
                Some(event["params"].to_string())
            }
            "Log.entryAdded" if event["params"]["entry"]["level"] == "error" => {
                Some(event["params"]["entry"].to_string())
            }
            _ => None,
        };
        self.events.iter().filter_map(of).collect()
    }

    /// A picture of the window, or of the whole page, as PNG in base 64.
    pub fn screenshot(&mut self, is_whole: bool) -> String {
        let ask = json!({ "format": "png", "captureBeyondViewport": is_whole });
        self.call("Page.captureScreenshot", ask)["data"].as_str().unwrap().to_owned()
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = serde_json::to_vec(&message).unwrap();
        bytes.push(0);
        self.commands.write_all(&bytes).unwrap();
        loop {
            let answer = self.next();
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    fn wait_for(&mut self, event: &str) {
        while !self.events.iter().any(|known| known["method"] == event) {
            let message = self.next();
            self.events.push_back(message);
        }
    }

    fn next(&mut self) -> Value {
        self.messages.recv_timeout(PATIENCE).expect("the browser does not answer")
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // When the browser is closed, its child processes end, too. A browser that does not respond is killed.
        let mut bytes = json!({ "id": u32::MAX, "method": "Browser.close" }).to_string().into_bytes();
        bytes.push(0);
        let _ = self.commands.write_all(&bytes);
        while self.messages.recv_timeout(Duration::from_secs(5)).is_ok() {}
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
