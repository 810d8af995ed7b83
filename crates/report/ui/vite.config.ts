import { defineConfig } from "vite";

// One script and one style sheet, which the report puts into its page: no module loading, no other file.
export default defineConfig({
  build: {
    target: "es2022",
    lib: { entry: "src/main.ts", formats: ["iife"], name: "busyhour", fileName: () => "report.js", cssFileName: "report" },
    minify: "oxc",
    sourcemap: false,
    reportCompressedSize: false,
  },
});
