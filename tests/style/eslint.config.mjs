// What tests/style/js asks of the page's modules and of their tests, besides the format, which is Prettier's. The
// script copies this file to where the packages are and runs ESLint at the root of the repository: paths here are
// relative to that.
import js from "@eslint/js";
import {createNodeResolver, importX} from "eslint-plugin-import-x";
import globals from "globals";
import {readdirSync} from "node:fs";

/** Modules of the page import those of their own room and of the ones below: views, chart, parts. */
const rooms = [
  {target: "static/js/parts", from: ["static/js/chart", "static/js/views"]},
  {target: "static/js/chart", from: "static/js/views"},
  ...readdirSync("static/js/views").map((view) => ({
    target: `static/js/views/${view}`,
    from: "static/js/views",
    except: [view],
  })),
];

const common = {
  "array-callback-return": "error",
  curly: ["error", "multi-line"],
  "default-case-last": "error",
  eqeqeq: "error",
  "max-lines": ["error", 500],
  "no-constructor-return": "error",
  "no-else-return": "error",
  "no-eval": "error",
  "no-implicit-coercion": "error",
  "no-lonely-if": "error",
  "no-new-func": "error",
  "no-return-assign": "error",
  "no-self-compare": "error",
  "no-sequences": "error",
  "no-template-curly-in-string": "error",
  "no-throw-literal": "error",
  "no-unneeded-ternary": "error",
  "no-unreachable-loop": "error",
  "no-unused-expressions": "error",
  "no-unused-vars": ["error", {argsIgnorePattern: "^_", ignoreRestSiblings: true}],
  "no-useless-concat": "error",
  "no-useless-rename": "error",
  "no-useless-return": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "one-var": ["error", "never"],
  "prefer-const": "error",
  "prefer-promise-reject-errors": "error",
  "prefer-template": "error",
  radix: "error",
  "import-x/export": "error",
  "import-x/first": "error",
  "import-x/named": "error",
  "import-x/namespace": "error",
  "import-x/no-cycle": ["error", {ignoreExternal: true}],
  "import-x/no-duplicates": "error",
  "import-x/no-mutable-exports": "error",
  "import-x/no-self-import": "error",
  "import-x/no-unresolved": ["error", {ignore: ["^[^./]"]}], // packages are in the folders of those who use them
  "import-x/no-useless-path-segments": "error",
};

export default [
  js.configs.recommended,
  {
    files: ["**/*.js", "**/*.mjs"],
    languageOptions: {ecmaVersion: 2022, sourceType: "module"},
    linterOptions: {reportUnusedDisableDirectives: "error"},
    plugins: {"import-x": importX},
    settings: {"import-x/resolver-next": [createNodeResolver()]},
    rules: common,
  },
  {
    files: ["static/js/**"],
    languageOptions: {globals: globals.browser},
    rules: {
      "import-x/no-restricted-paths": ["error", {zones: rooms}],
      "max-lines-per-function": ["error", {max: 60, skipBlankLines: true, skipComments: true}],
    },
  },
  // The tests' functions of page.evaluate run in the browser.
  {files: ["**/*.mjs"], languageOptions: {globals: {...globals.node, ...globals.browser}}},
];
