//! Tests the comparison of stacks with a Java server whose lock is sometimes held.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::foreign_programs::{compile_java, java};
use crate::program::{Room, wait_for};

/// A server whose price list is reloaded at irregular times. Requests wait for its lock meanwhile.
const SHOP: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.Random;
import java.util.concurrent.Executors;

public class Shop {
    private final Object prices = new Object();
    private final Random random = new Random(7);

    int price(int article) {
        synchronized (prices) {
            return article * 3;
        }
    }

    void reload() throws InterruptedException {
        synchronized (prices) {
            Thread.sleep(800 + random.nextInt(400));
        }
    }

    void reloadAtTimes() {
        try {
            while (true) {
                Thread.sleep(2000 + random.nextInt(3000));
                reload();
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Shop shop = new Shop();
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 50);
        server.setExecutor(Executors.newFixedThreadPool(16));
        server.createContext("/", exchange -> {
            byte[] answer = Integer.toString(shop.price(1)).getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        Thread timer = new Thread(shop::reloadAtTimes, "timer password=S3CRET");
        timer.setDaemon(true);
        timer.start();
        System.out.println(server.getAddress().getPort());
        Thread.currentThread().join();
    }
}
"#;

#[test]
fn the_frame_that_holds_a_lock_is_named() {
    let room = Room::new();
    if !compile_java(&room, "Shop", SHOP) {
        return;
    }
    let server = room.start_command(java(&room, "Shop"));
    let port: u16 = wait_for("the port of the server", || server.stdout().trim().parse().ok());
    let url = format!("http://127.0.0.1:{port}/");
    let sources = format!("stacks:jvm:{}", server.pid());
    let run = ["run", &url, "--rate", "40/s", "--for", "30s", "--dir", "run", "--observe", &sources];
    let ended = room.run(run.iter().copied().chain(["--observe-interval", "100ms"])).expect(0);
    assert!(ended.stderr.contains("thread dumps"), "{}", ended.stderr);

    let file = room.read("run/stacks.bhk");
    assert!(file.starts_with("busyhour-stacks\t1\n") && !file.contains("S3CRET"), "{file}");
    assert!(room.read("run/run.json").contains("\"file\": \"stacks.bhk\""));
    let summary: Value = serde_json::from_str(&room.read("run/summary.json")).unwrap();
    let found = &summary["stacks"][0];
    assert_eq!(found["outcome"], "differs", "{found}");
    let frames: Vec<&str> =
        found["frames"].as_array().unwrap().iter().filter_map(|frame| frame["frame"].as_str()).collect();
    assert!(frames.contains(&"Shop.reload") && frames.contains(&"Shop.price"), "{frames:?}");
    let waiting = &found["frames"].as_array().unwrap().iter().find(|frame| frame["frame"] == "Shop.price");
    assert_eq!(waiting.unwrap()["waiting"]["owner_frame"], "Shop.reload", "{found}");

    let why = room.run(["report", "run", "--why"]).expect(0).stdout;
    assert!(why.contains("BLOCKED on a monitor of java.lang.Object"), "{why}");
    let page = room.read("run/report.html");
    assert!(page.contains("id=\"stacks\"") && page.contains("<title>Shop.price: "), "the flame graph");
    room.run(["export", "run", "-o", "stacks.collapsed"]).expect(0);
    let slow = room.read("stacks-slow.collapsed");
    let is_collapsed =
        |line: &str| line.rsplit_once(' ').is_some_and(|(_, count)| count.parse::<u64>().is_ok());
    assert!(slow.contains("Shop.reload") && slow.lines().all(is_collapsed), "{slow}");
    assert!(room.read("stacks-fast.collapsed").contains("ThreadPoolExecutor.getTask"));
}

#[test]
fn stacks_of_a_process_that_is_not_a_jvm_are_refused_with_a_reason() {
    let room = Room::new();
    let sources = format!("stacks:jvm:{}", std::process::id());
    let ended = room.run(["observe", "--sources", &sources, "--for", "1s", "--dir", "watch"]);
    assert!(ended.stderr.contains("not watched, because"), "{}", ended.stderr);
    assert!(!room.path().join("watch/stacks.bhk").exists());
}
