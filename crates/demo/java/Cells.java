package busyhour.cells;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.reflect.Constructor;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.Vector;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The cells emulator: a server whose six cells call each other and use as much CPU and memory, leak as much and fail as
 * often as the configuration of a request asks for.
 *
 * <p>Arguments are NAME=VALUE. Standard input contains the configurations, one line per cell, and a line {@code end}; the
 * program ends when standard input is closed. The first line of standard output is {@code listening PORT PID},
 * {@code port MESSAGE} if the port cannot be used, or {@code refused MESSAGE} if the input is wrong. The logs are
 * {@code server.log} and {@code access.log} in the working directory.
 */
public final class Cells {
    /** The number of cells, TB1 to TB6. */
    private static final int CELL_COUNT = 6;

    /** Connections that wait for {@code accept}: a load test opens hundreds at once. */
    private static final int BACKLOG = 4096;

    private Cells() {}

    public static void main(String[] arguments) throws Exception {
        // The server sends the head and the body of a response separately: with Nagle's algorithm the body would wait
        // for the client's delayed acknowledgement. By default it also closes idle connections above 200, which are
        // users who think.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", "1000000");
        System.setProperty("sun.net.httpserver.idleInterval", "300");
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Emulator emulator;
        try {
            Options options = new Options(arguments);
            emulator = new Emulator(options, Configuration.readAll(input));
        } catch (BindException failure) {
            System.out.println("port " + failure.getMessage());
            System.exit(1);
            return;
        } catch (IllegalArgumentException | IOException failure) {
            System.out.println("refused " + failure.getMessage());
            System.exit(1);
            return;
        }
        emulator.start();
        System.out.println("listening " + emulator.port() + " " + ProcessHandle.current().pid());
        System.out.flush();
        try {
            while (input.read() >= 0) {
                // No input is expected. The end of the input stops the server.
            }
            emulator.stop();
        } finally {
            // Shutdown hooks could wait for worker threads.
            Runtime.getRuntime().halt(0);
        }
    }

    /** The arguments. */
    private static final class Options {
        private final Map<String, String> values = new HashMap<>();

        Options(String[] arguments) {
            for (String argument : arguments) {
                int equals = argument.indexOf('=');
                if (equals < 0) {
                    throw new IllegalArgumentException(argument + " is not NAME=VALUE");
                }
                values.put(argument.substring(0, equals), argument.substring(equals + 1));
            }
        }

        String text(String name) {
            String value = values.get(name);
            if (value == null) {
                throw new IllegalArgumentException("the argument " + name + " is missing");
            }
            return value;
        }

        int number(String name) {
            return Integer.parseInt(text(name));
        }
    }

    /** The settings of one cell in one configuration. */
    private static final class Settings {
        static final Settings NONE = new Settings(0, 0, 0, null, new int[0]);

        /** Number of draws from the standard normal distribution. */
        final long draws;
        /** Size of an array that is garbage after the call, in bytes. */
        final int memory;
        /** Size of an array that is never released, in bytes. */
        final int leak;
        /** Constructor of the exception to throw, or null. */
        final Constructor<? extends Throwable> exception;
        /** Indices of the cells to call, in this order. */
        final int[] targets;

        Settings(long draws, int memory, int leak, Constructor<? extends Throwable> exception, int[] targets) {
            this.draws = draws;
            this.memory = memory;
            this.leak = leak;
            this.exception = exception;
            this.targets = targets;
        }
    }

    /** The settings of all cells for requests with one number. */
    private static final class Configuration {
        final int number;
        final Settings[] settings = new Settings[CELL_COUNT];

        private Configuration(int number) {
            this.number = number;
            Arrays.fill(settings, Settings.NONE);
        }

        /** Reads lines of NUMBER CELL DRAWS MEMORY LEAK EXCEPTION TARGETS, with - for no exception and no targets. */
        static TreeMap<Integer, Configuration> readAll(BufferedReader input) throws IOException {
            TreeMap<Integer, Configuration> all = new TreeMap<>();
            for (String line = input.readLine(); !"end".equals(line); line = input.readLine()) {
                if (line == null) {
                    throw new IllegalArgumentException("the configurations are truncated");
                }
                String[] words = line.split(" ");
                int number = Integer.parseInt(words[0]);
                Configuration configuration = all.computeIfAbsent(number, Configuration::new);
                int[] targets =
                        words[6].equals("-")
                                ? new int[0]
                                : Arrays.stream(words[6].split(",")).mapToInt(name -> Integer.parseInt(name) - 1).toArray();
                configuration.settings[Integer.parseInt(words[1]) - 1] =
                        new Settings(
                                Long.parseLong(words[2]),
                                Integer.parseInt(words[3]),
                                Integer.parseInt(words[4]),
                                words[5].equals("-") ? null : constructor(words[5], number),
                                targets);
            }
            return all;
        }

        private static Constructor<? extends Throwable> constructor(String name, int number) {
            try {
                Constructor<? extends Throwable> found =
                        Class.forName(name).asSubclass(Throwable.class).getConstructor(String.class);
                // An abstract class is refused now, and not by the first request.
                found.newInstance("");
                return found;
            } catch (ClassNotFoundException failure) {
                throw new IllegalArgumentException("configuration " + number + ": there is no class " + name);
            } catch (ClassCastException failure) {
                throw new IllegalArgumentException("configuration " + number + ": " + name + " is not an exception");
            } catch (ReflectiveOperationException failure) {
                throw new IllegalArgumentException(
                        "configuration " + number + ": " + name + " cannot be created from a message");
            }
        }
    }

    /** Arrays that are never released. */
    private static final class BlackHole {
        private static final Vector<byte[]> ARRAYS = new Vector<>();
        private static final AtomicLong BYTES = new AtomicLong();

        private BlackHole() {}

        static void keep(byte[] array) {
            ARRAYS.add(array);
            BYTES.addAndGet(array.length);
        }

        static int arrays() {
            return ARRAYS.size();
        }

        static long bytes() {
            return BYTES.get();
        }
    }

    /** The state of one request on its way through the cells. */
    private static final class Call {
        final Configuration configuration;
        final List<String> path = new ArrayList<>();

        Call(Configuration configuration) {
            this.configuration = configuration;
        }
    }

    /** One of the interchangeable objects of a cell; it serves one request at a time. */
    private static final class Bean {
        private final Random random = new Random();

        /** Uses what the settings ask for, and returns a number that depends on all draws. */
        double work(Settings settings, int cell, Call call, Cell[] cells) throws Throwable {
            byte[] memory = new byte[settings.memory];
            double sum = 0;
            for (long draw = 0; draw < settings.draws; draw++) {
                sum += random.nextGaussian();
            }
            if (settings.leak > 0) {
                BlackHole.keep(new byte[settings.leak]);
            }
            if (settings.exception != null) {
                Throwable failure = settings.exception.newInstance(
                        Cell.name(cell) + " fails in configuration " + call.configuration.number);
                // The trace starts here, and not in the reflection that made the exception.
                failure.setStackTrace(new Throwable().getStackTrace());
                throw failure;
            }
            for (int target : settings.targets) {
                sum += cells[target].call(call, cells);
            }
            // The array is in use up to here.
            return memory.length == 0 ? sum : sum + memory[memory.length - 1];
        }
    }

    /** A cell: a bounded pool of beans, which are created when they are needed. */
    private static final class Cell {
        private final int index;
        private final int beanCount;
        private final long waitMs;
        private final Log log;
        // Fair, so that the longest wait is bounded by the number of waiting requests.
        private final Semaphore free;
        private final ConcurrentLinkedDeque<Bean> idle = new ConcurrentLinkedDeque<>();
        private final AtomicLong waits = new AtomicLong();

        Cell(int index, int beanCount, long waitMs, Log log) {
            this.index = index;
            this.beanCount = beanCount;
            this.waitMs = waitMs;
            this.log = log;
            this.free = new Semaphore(beanCount, true);
        }

        static String name(int index) {
            return "TB" + (index + 1);
        }

        double call(Call call, Cell[] cells) throws Throwable {
            Bean bean = take();
            call.path.add(name(index));
            long startNs = System.nanoTime();
            try {
                return bean.work(call.configuration.settings[index], index, call, cells);
            } finally {
                idle.push(bean);
                free.release();
                if (log.isDebug()) {
                    long us = (System.nanoTime() - startNs) / 1000;
                    log.debug(name(index), "configuration " + call.configuration.number + " took " + us + " us");
                }
            }
        }

        private Bean take() throws InterruptedException {
            if (!free.tryAcquire()) {
                waits.incrementAndGet();
                if (!free.tryAcquire(waitMs, TimeUnit.MILLISECONDS)) {
                    throw new IllegalStateException(
                            "no bean of " + name(index) + " became free within " + waitMs + " ms; all " + beanCount
                                    + " are in use");
                }
            }
            Bean bean = idle.poll();
            return bean == null ? new Bean() : bean;
        }

        String statusJson() {
            return String.format(
                    Locale.ROOT,
                    "{\"cell\":\"%s\",\"beans\":%d,\"busy\":%d,\"waiting\":%d,\"waits\":%d}",
                    name(index),
                    beanCount,
                    beanCount - free.availablePermits(),
                    free.getQueueLength(),
                    waits.get());
        }
    }

    /** A log in the layout {@code %d{ISO8601} %-5p [%t] %c - %m%n} of log4j. */
    private static final class Log {
        private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss,SSS", Locale.ROOT);
        private static final List<String> LEVELS = List.of("error", "info", "debug");

        private final Writer out;
        private final int level;

        Log(Path path, String level) throws IOException {
            this.out = appender(path);
            this.level = LEVELS.indexOf(level);
            if (this.level < 0) {
                throw new IllegalArgumentException("log-level must be one of " + LEVELS + ", not " + level);
            }
        }

        static Writer appender(Path path) throws IOException {
            return Files.newBufferedWriter(
                    path, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }

        boolean isDebug() {
            return level >= 2;
        }

        void debug(String category, String message) {
            write("DEBUG", category, message, null);
        }

        void info(String category, String message) {
            if (level >= 1) {
                write("INFO", category, message, null);
            }
        }

        void error(String category, String message, Throwable failure) {
            write("ERROR", category, message, failure);
        }

        private void write(String level, String category, String message, Throwable failure) {
            StringWriter text = new StringWriter();
            text.append(String.format(
                    Locale.ROOT,
                    "%s %-5s [%s] cells.%s - %s%n",
                    STAMP.format(ZonedDateTime.now()),
                    level,
                    Thread.currentThread().getName(),
                    category,
                    message));
            if (failure != null) {
                failure.printStackTrace(new PrintWriter(text, true));
            }
            writeLine(out, text.toString());
        }

        /** Writes and flushes. A full disk must not stop the server. */
        static void writeLine(Writer out, String line) {
            synchronized (out) {
                try {
                    out.write(line);
                    out.flush();
                } catch (IOException failure) {
                    System.err.println("a log cannot be written: " + failure.getMessage());
                }
            }
        }
    }

    /** A log in the common log format, with the duration in microseconds as the last field. */
    private static final class AccessLog {
        private static final DateTimeFormatter STAMP = DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ROOT);

        private final Writer out;

        AccessLog(Path path) throws IOException {
            this.out = Log.appender(path);
        }

        void write(HttpExchange exchange, ZonedDateTime start, Reply reply, long durationNs) {
            String line =
                    exchange.getRemoteAddress().getAddress().getHostAddress()
                            + " - - [" + STAMP.format(start) + "] \""
                            + requestLine(exchange).replace("\"", "\\\"")
                            + "\" " + reply.status + " " + reply.sentLength(exchange) + " " + durationNs / 1000
                            + System.lineSeparator();
            Log.writeLine(out, line);
        }

        private static String requestLine(HttpExchange exchange) {
            return exchange.getRequestMethod() + " " + exchange.getRequestURI() + " " + exchange.getProtocol();
        }
    }

    /** A response. */
    private static final class Reply {
        final int status;
        final String type;
        final byte[] body;

        private Reply(int status, String type, String body) {
            this.status = status;
            this.type = type;
            this.body = body.getBytes(StandardCharsets.UTF_8);
        }

        /** The number of bytes of the body that are sent; a response to HEAD has none. */
        int sentLength(HttpExchange exchange) {
            return exchange.getRequestMethod().equals("HEAD") ? 0 : body.length;
        }

        static Reply json(String body) {
            return new Reply(200, "application/json", body + "\n");
        }

        static Reply error(int status, String message) {
            return new Reply(status, "text/plain;charset=utf-8", message + "\n");
        }
    }

    /** The server. */
    private static final class Emulator {
        private final TreeMap<Integer, Configuration> configurations;
        private final Cell[] cells = new Cell[CELL_COUNT];
        private final int workerCount;
        private final ThreadPoolExecutor workers;
        private final HttpServer server;
        private final Log log;
        private final AccessLog accessLog;
        private final AtomicLong requests = new AtomicLong();
        private final AtomicLong failures = new AtomicLong();
        private final MemoryMXBean memory = ManagementFactory.getMemoryMXBean();

        Emulator(Options options, TreeMap<Integer, Configuration> configurations) throws IOException {
            this.configurations = configurations;
            log = new Log(Path.of("server.log"), options.text("log-level"));
            accessLog = new AccessLog(Path.of("access.log"));
            int beanCount = options.number("beans");
            long beanWaitMs = options.number("bean-wait-ms");
            for (int index = 0; index < CELL_COUNT; index++) {
                cells[index] = new Cell(index, beanCount, beanWaitMs, log);
            }
            workerCount = options.number("workers");
            AtomicInteger started = new AtomicInteger();
            // A connection has at most one request in the queue, so that connections bound its length.
            workers = new ThreadPoolExecutor(
                    workerCount,
                    workerCount,
                    0,
                    TimeUnit.SECONDS,
                    new LinkedBlockingQueue<>(),
                    task -> new Thread(task, "worker-" + started.incrementAndGet()));
            InetAddress address = InetAddress.getByName("127.0.0.1");
            server = HttpServer.create(new InetSocketAddress(address, options.number("port")), BACKLOG);
            server.setExecutor(workers);
            server.createContext("/", this::handle);
            log.info(
                    "Server",
                    "configurations " + configurations.keySet() + ", " + workerCount + " worker threads, " + beanCount
                            + " beans of each cell");
            log.info("Server", "registered error pages for 400, 404, 405 and 500");
        }

        void start() {
            server.start();
            log.info("Server", "listening on 127.0.0.1:" + port());
        }

        void stop() {
            log.info("Server", "stopping after " + requests.get() + " requests");
            server.stop(0);
        }

        int port() {
            return server.getAddress().getPort();
        }

        private void handle(HttpExchange exchange) {
            ZonedDateTime start = ZonedDateTime.now();
            long startNs = System.nanoTime();
            requests.incrementAndGet();
            Reply reply = replyTo(exchange);
            try {
                send(exchange, reply);
            } catch (IOException failure) {
                // The client closed its connection.
                exchange.close();
            }
            accessLog.write(exchange, start, reply, System.nanoTime() - startNs);
        }

        private static void send(HttpExchange exchange, Reply reply) throws IOException {
            exchange.getResponseHeaders().set("Content-Type", reply.type);
            int length = reply.sentLength(exchange);
            exchange.sendResponseHeaders(reply.status, length == 0 ? -1 : length);
            if (length > 0) {
                try (OutputStream out = exchange.getResponseBody()) {
                    out.write(reply.body);
                }
            }
            exchange.close();
        }

        private Reply replyTo(HttpExchange exchange) {
            String method = exchange.getRequestMethod();
            String path = exchange.getRequestURI().getPath();
            boolean reads = method.equals("GET") || method.equals("HEAD");
            switch (path) {
                case "/cells":
                    return reads ? callCells(exchange) : wrongMethod(exchange, "GET, HEAD");
                case "/status":
                    return reads ? Reply.json(statusJson()) : wrongMethod(exchange, "GET, HEAD");
                case "/gc":
                    return method.equals("POST") ? collectGarbage() : wrongMethod(exchange, "POST");
                default:
                    return Reply.error(404, "there are /cells?config=N, /status and /gc, but not " + path);
            }
        }

        private static Reply wrongMethod(HttpExchange exchange, String allowed) {
            exchange.getResponseHeaders().set("Allow", allowed);
            return Reply.error(405, "the methods of this path are: " + allowed);
        }

        private Reply callCells(HttpExchange exchange) {
            Configuration configuration;
            try {
                configuration = configuration(exchange.getRequestURI().getRawQuery());
            } catch (IllegalArgumentException failure) {
                return Reply.error(400, failure.getMessage());
            }
            Call call = new Call(configuration);
            try {
                double sum = cells[0].call(call, cells);
                return Reply.json(String.format(
                        Locale.ROOT,
                        "{\"config\":%d,\"calls\":[\"%s\"],\"sum\":%.6f}",
                        configuration.number,
                        String.join("\",\"", call.path),
                        sum));
            } catch (Throwable failure) {
                failures.incrementAndGet();
                log.error("Server", "GET /cells?config=" + configuration.number + " failed", failure);
                return Reply.error(500, failure.toString());
            }
        }

        private Configuration configuration(String query) {
            for (String pair : (query == null ? "" : query).split("&")) {
                if (pair.startsWith("config=")) {
                    String value = pair.substring("config=".length());
                    Configuration found = value.matches("[0-9]{1,9}") ? configurations.get(Integer.valueOf(value)) : null;
                    if (found == null) {
                        throw new IllegalArgumentException(
                                "config must be one of " + configurations.keySet() + ", not " + value);
                    }
                    return found;
                }
            }
            throw new IllegalArgumentException("config is missing: /cells?config=N");
        }

        private Reply collectGarbage() {
            System.gc();
            return Reply.json("{\"heap_used_bytes\":" + memory.getHeapMemoryUsage().getUsed() + "}");
        }

        private String statusJson() {
            List<String> pools = new ArrayList<>();
            for (Cell cell : cells) {
                pools.add(cell.statusJson());
            }
            return String.format(
                    Locale.ROOT,
                    "{\"pid\":%d,\"requests\":%d,\"failures\":%d,\"leaked_arrays\":%d,\"leaked_bytes\":%d,"
                            + "\"heap_used_bytes\":%d,\"heap_max_bytes\":%d,"
                            + "\"workers\":%d,\"workers_busy\":%d,\"workers_queued\":%d,\"pools\":[%s]}",
                    ProcessHandle.current().pid(),
                    requests.get(),
                    failures.get(),
                    BlackHole.arrays(),
                    BlackHole.bytes(),
                    memory.getHeapMemoryUsage().getUsed(),
                    Runtime.getRuntime().maxMemory(),
                    workerCount,
                    workers.getActiveCount(),
                    workers.getQueue().size(),
                    String.join(",", pools));
        }
    }
}
