// Rules for the scripts of report.html: classic scripts, which the page puts one behind the other.
import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2022, sourceType: "script", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      // One script uses what another one defines; the type check knows all of them.
      "no-undef": "off",
      "no-unused-vars": ["error", { vars: "local", argsIgnorePattern: "^_" }],
      "eqeqeq": "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-shadow": "error",
      "no-implied-eval": "error",
      "no-eval": "error",
    },
  },
  // The studio's are modules.
  { files: ["python/anabranch/studio/**"], languageOptions: { sourceType: "module" } },
];
