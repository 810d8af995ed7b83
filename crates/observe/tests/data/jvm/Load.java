import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A small system under test for the tests of the JVM probe: it allocates, keeps some of it, and contends for a lock.
 * It reads commands from its standard input, one a line, and answers each with one line: "work", "quiet", "hold",
 * "release", "gc", "keep N" (retain N objects of class Kept), "allocated FILE" (write the bytes that all threads allocated). It ends at
 * the end of its input.
 */
public class Load {
    static final class Ledger { long entries; }
    static final class Kept { final long a = 1; final long b = 2; }

    static final Ledger LEDGER = new Ledger();
    static final ReentrantLock TILL = new ReentrantLock();
    static final Object[] RING = new Object[4096];
    static volatile boolean working;
    static volatile Object sink;
    static Kept[] kept = new Kept[0];

    static void allocate(int worker) {
        int i = worker;
        while (true) {
            if (!working) { pause(); continue; }
            byte[] block = new byte[512 + (i * 31 & 1023)];
            if ((i & 7) == 0) RING[(i >>> 3) & 4095] = block;
            sink = block;
            i += 2;
            if ((i & 0x3fff) <= 1) pause();
        }
    }

    static void contend() {
        while (true) {
            if (!working) { pause(); continue; }
            synchronized (LEDGER) {
                long until = System.nanoTime() + 200_000;
                while (System.nanoTime() < until) LEDGER.entries++;
            }
            Thread.yield();
        }
    }

    static void pause() {
        try { Thread.sleep(1); } catch (InterruptedException e) { throw new IllegalStateException(e); }
    }

    static long allocated() {
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (long bytes : threads.getThreadAllocatedBytes(threads.getAllThreadIds())) sum += Math.max(bytes, 0);
        return sum;
    }

    static Thread start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    static void awaitState(Thread thread, Thread.State state) {
        while (thread.getState() != state) pause();
    }

    /** Two threads wait for the ledger, one for the till; "holder" owns both until the latch opens. */
    static CountDownLatch hold() throws InterruptedException {
        CountDownLatch held = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        start("holder", () -> {
            TILL.lock();
            synchronized (LEDGER) {
                held.countDown();
                try { release.await(); } catch (InterruptedException e) { throw new IllegalStateException(e); }
            }
            TILL.unlock();
        });
        held.await();
        for (int i = 1; i <= 2; i++) {
            awaitState(start("blocked \"" + i + '"', () -> { synchronized (LEDGER) { LEDGER.entries++; } }), Thread.State.BLOCKED);
        }
        awaitState(start("parked", () -> { TILL.lock(); TILL.unlock(); }), Thread.State.WAITING);
        return release;
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 2; i++) { int worker = i; start("allocate-" + i, () -> allocate(worker)); }
        for (int i = 0; i < 3; i++) start("contend-" + i, Load::contend);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        CountDownLatch release = null;
        System.out.println("ready");
        for (String line; (line = in.readLine()) != null; System.out.println(line)) {
            if (line.equals("work")) working = true;
            else if (line.equals("quiet")) { working = false; Thread.sleep(150); }
            else if (line.equals("hold")) release = hold();
            else if (line.equals("release")) release.countDown();
            else if (line.equals("gc")) System.gc();
            else if (line.startsWith("keep ")) {
                Kept[] more = new Kept[Integer.parseInt(line.substring(5))];
                for (int i = 0; i < more.length; i++) more[i] = new Kept();
                kept = more;
            } else if (line.startsWith("allocated ")) {
                Files.write(Paths.get(line.substring(10)), Long.toString(allocated()).getBytes());
            } else throw new IllegalArgumentException(line);
        }
    }
}
