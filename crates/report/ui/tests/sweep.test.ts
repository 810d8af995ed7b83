import { expect, test } from "vitest";
import { look, places, shortened } from "../src/plots/sweep";

test("numbers are in their order, names in that of the file", () => {
  expect(places(["30", "10", "20"], [30, 10, 20])).toEqual({ x: [10, 20, 30], rows: [1, 2, 0] });
  expect(places(["random", "round-robin"])).toEqual({ x: [0, 1], rows: [0, 1] });
});

test("fifteen lines look different", () => {
  const looks = Array.from({ length: 15 }, (_, at) => JSON.stringify(look(at)));
  expect(new Set(looks).size).toBe(15);
});

test("names are cut to the room there is", () => {
  expect(shortened("join-shortest-queue", 8)).toBe("join-sh…");
  expect(shortened("random", 8)).toBe("random");
});
