// Answers against /api/v1/openapi.json, and which of its (method, path, status) were met.
import Ajv2020 from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";
import {dirname, join} from "node:path";

const FROZEN = join(dirname(process.env.RL_README), "tests/data/answers_before_suites.json");

/** A copy whose objects have the members named alone: an answer may gain members, but none that the document lacks. */
function closed(value) {
  if (Array.isArray(value)) return value.map(closed);
  if (value === null || typeof value !== "object") return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, closed(member)]));
  if (copy.type === "object" && copy.properties && copy.additionalProperties === undefined) {
    copy.additionalProperties = false;
  }
  return copy;
}

const pointer = (key) => key.replaceAll("~", "~0").replaceAll("/", "~1");

export class Document {
  constructor(json) {
    this.json = json;
    this.met = new Set();
    // The document is no schema itself: only its parts are compiled, by reference into it.
    this.ajv = new Ajv2020({strict: false, validateSchema: false, allErrors: true, validateFormats: false});
    this.ajv.addSchema({$id: "openapi", ...closed(json)});
    // What clients of before suites were promised (2026-12-01): every answer keeps to that too.
    this.frozen = JSON.parse(readFileSync(FROZEN, "utf8"));
    this.ajv.addSchema({$id: "frozen", ...this.frozen});
    this.compiled = new Map();
  }

  /** Every (method, path, status) that the document promises. */
  promises() {
    return Object.entries(this.json.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([key]) => ["get", "post", "put", "delete"].includes(key))
        .flatMap(([method, {responses}]) =>
          Object.keys(responses).map((status) => `${method.toUpperCase()} ${path} ${status}`),
        ),
    );
  }

  /** The schema at a JSON pointer, compiled; schema objects are checked against the metaschema of 2020-12 too. */
  compile(at, id = "openapi") {
    const key = `${id}${at}`;
    if (!this.compiled.has(key)) this.compiled.set(key, this.ajv.compile({$ref: key}));
    return this.compiled.get(key);
  }

  /** Checks an answer to method path (a path of the document); throws with all that is wrong. */
  check(method, path, answer) {
    const operation = this.json.paths[path]?.[method.toLowerCase()];
    assert.ok(operation, `${method} ${path} is not in the document`);
    const status = operation.responses[answer.status] ? String(answer.status) : "default";
    let at = `#/paths/${pointer(path)}/${method.toLowerCase()}/responses/${status}`;
    let response = operation.responses[status];
    assert.ok(response, `${method} ${path}: ${answer.status} is not in the document`);
    if (response.$ref) {
      at = response.$ref;
      response = this.json.components.responses[at.split("/").at(-1)];
    }
    this.met.add(`${method} ${path} ${status}`);
    const where = `${method} ${path} ${answer.status}`;
    for (const name of Object.keys(response.headers ?? {}))
    // those that only some answers of this status have
    {
      if (!["Idempotent-Replayed", "Retry-After", "Allow", "Run-Withdrawn"].includes(name)) {
        assert.ok(answer.headers[name.toLowerCase()], `${where}: no header ${name}`);
      }
    }
    if (!response.content) {
      assert.equal(answer.text, "", `${where}: has a body`);
      return;
    }
    const type = (answer.headers["content-type"] ?? "").split(";")[0];
    assert.ok(
      response.content[type] ?? response.content[answer.headers["content-type"]],
      `${where}: type ${answer.headers["content-type"]} is not in the document`,
    );
    if (type !== "application/json") return;
    const schema = `${at}/content/application~1json/schema`;
    this.validate(this.compile(schema), where, answer);
    const before = at.startsWith("#/components")
      ? this.frozen.components.responses[at.split("/").at(-1)]
      : this.frozen.paths[path]?.[method.toLowerCase()]?.responses[status];
    if (before?.content?.[type]) this.validate(this.compile(schema, "frozen"), `${where}, as before suites`, answer);
  }

  validate(validator, where, answer) {
    assert.ok(
      validator(answer.json),
      `${where}: ${this.ajv.errorsText(validator.errors, {separator: "\n"})}\n${answer.text.slice(0, 600)}`,
    );
  }
}

/** The metaschema's own complaints about every schema component. */
export function schemaErrors(json) {
  const ajv = new Ajv2020({strict: false});
  return Object.entries(json.components.schemas)
    .filter(([, schema]) => !ajv.validateSchema(schema))
    .map(([name]) => `${name}: ${ajv.errorsText()}`);
}

/** Error ids of the catalogue in the source. */
export function catalogue(path) {
  return [...readFileSync(path, "utf8").matchAll(/^RL_ERROR\(\w+, "(\w+)", (\d+),/gm)].map(([, id, status]) => ({
    id,
    status: Number(status),
  }));
}
