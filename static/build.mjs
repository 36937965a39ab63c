// node build.mjs DIR: bundles vendor.mjs into DIR/js/vendor.js, with the licences of what went in beside it.
import {readFileSync, readdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import * as esbuild from "esbuild";

const out = process.argv[2];
const result = await esbuild.build({
  entryPoints: ["vendor.mjs"],
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  legalComments: "none", // they stand in the file of licences
  metafile: true,
  logLevel: "warning",
  outfile: join(out, "js/vendor.js"),
});

const packages = new Set();
for (const input of Object.keys(result.metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) packages.add(found[1]);
}
const texts = [...packages].sort().map((name) => {
  const folder = join("node_modules", name);
  const {version, license} = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license})\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : "no licence file in the package"}\n`;
});
writeFileSync(join(out, "js/vendor.licences.txt"), texts.join("\n----\n\n"));
