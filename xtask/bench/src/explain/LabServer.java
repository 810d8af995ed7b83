import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.URI;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/**
 * A small server whose faults can be switched on and off: `/fault?NAME=LEVEL`, 0 for off.
 * Arguments: upstream port (0 for none), connections to it, live heap in MB.
 */
public class LabServer {
    static final Object LOCK = new Object();
    static volatile int gc, lock, errors, burn;
    static volatile byte sink;
    static final List<byte[]> live = new ArrayList<>();

    public static void main(String[] args) throws Exception {
        int upstream = Integer.parseInt(args[0]);
        Semaphore pool = new Semaphore(Integer.parseInt(args[1]), true);
        for (int blocks = Integer.parseInt(args[2]) * 1024; blocks > 0; blocks--) {
            live.add(new byte[1008]);
        }
        HttpServer server = HttpServer.create(new InetSocketAddress("0.0.0.0", 0), 256);
        server.setExecutor(Executors.newFixedThreadPool(64));
        server.createContext("/fault", exchange -> {
            for (String part : exchange.getRequestURI().getQuery().split("&")) {
                String[] pair = part.split("=");
                set(pair[0], Integer.parseInt(pair[1]));
            }
            answer(exchange);
        });
        server.createContext("/", exchange -> {
            try {
                work(upstream, pool);
            } catch (Exception error) {
                log(error);
            }
            answer(exchange);
        });
        background(() -> { if (gc > 0) { System.gc(); Thread.sleep(600 / gc); } else { Thread.sleep(10); } });
        background(() -> {
            int hold = lock;
            if (hold > 0) {
                synchronized (LOCK) { Thread.sleep(hold); }
            }
            Thread.sleep(1);
        });
        for (int number = 1; number <= 8; number++) {
            int own = number;
            background(() -> { if (burn >= own) { digest(1); } else { Thread.sleep(5); } });
        }
        server.start();
        System.out.println("port " + server.getAddress().getPort());
    }

    static void set(String name, int level) {
        switch (name) {
            case "gc" -> gc = level;
            case "lock" -> lock = level;
            case "errors" -> errors = level;
            case "burn" -> burn = level;
            default -> throw new IllegalArgumentException(name);
        }
    }

    static void work(int upstream, Semaphore pool) throws Exception {
        byte[] garbage = new byte[200_000];
        sink = garbage[garbage.length - 1];
        digest(200);
        synchronized (LOCK) { sink++; }
        if (upstream > 0) {
            pool.acquire();
            try {
                var connection = (HttpURLConnection) URI.create("http://127.0.0.1:" + upstream + "/").toURL().openConnection();
                try (InputStream body = connection.getInputStream()) { body.readAllBytes(); }
            } finally {
                pool.release();
            }
        }
        int delay = errors;
        if (delay > 0) {
            Thread.sleep(delay);
            throw new IllegalStateException("the order could not be stored, tried again");
        }
    }

    static void digest(int rounds) throws Exception {
        byte[] data = new byte[8192];
        for (int round = 0; round < rounds; round++) { sink = MessageDigest.getInstance("SHA-256").digest(data)[0]; }
    }

    static void log(Exception error) {
        var text = new java.io.StringWriter();
        error.printStackTrace(new java.io.PrintWriter(text));
        System.err.print(Instant.now() + " ERROR [" + Thread.currentThread().getName() + "] LabServer - request failed\n" + text);
    }

    static void answer(HttpExchange exchange) throws java.io.IOException {
        exchange.sendResponseHeaders(200, 2);
        exchange.getResponseBody().write("ok".getBytes());
        exchange.close();
    }

    interface Work { void run() throws Exception; }

    static void background(Work work) {
        Thread thread = new Thread(() -> {
            try { while (true) { work.run(); } } catch (Exception error) { throw new RuntimeException(error); }
        });
        thread.setDaemon(true);
        thread.start();
    }
}
