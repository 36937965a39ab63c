// Answers against /api/v1/openapi.json, and which of its (method, path, status) were met.
import Ajv2020 from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import {readFileSync} from "node:fs";

const pointer = (key) => key.replaceAll("~", "~0").replaceAll("/", "~1");

export class Document {
  constructor(json) {
    this.json = json;
    this.met = new Set();
    // The document is no schema itself: only its parts are compiled, by reference into it.
    this.ajv = new Ajv2020({strict: false, validateSchema: false, allErrors: true, validateFormats: false});
    this.ajv.addSchema({$id: "openapi", ...json});
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
  compile(at) {
    if (!this.compiled.has(at)) this.compiled.set(at, this.ajv.compile({$ref: `openapi${at}`}));
    return this.compiled.get(at);
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
    const validate = this.compile(`${at}/content/application~1json/schema`);
    assert.ok(
      validate(answer.json),
      `${where}: ${this.ajv.errorsText(validate.errors, {separator: "\n"})}\n${answer.text.slice(0, 600)}`,
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
