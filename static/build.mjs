// node build.mjs SOURCE DIR: bundles SOURCE/js into DIR/js: app.js, a file per view, and what they share with one
// another and with the packages in node_modules; and each sheet in SOURCE/css with what it imports into one in DIR/css.
// A view loads in few requests then, however many files it is written in. The licences of the packages go into
// DIR/js/licences.txt.
import {readFileSync, readdirSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {pathToFileURL} from "node:url";
import * as esbuild from "esbuild";

const source = join(process.argv[2], "js");
const js = join(process.argv[3], "js");
const {VIEWS} = await import(pathToFileURL(join(source, "views.js")));
const result = await esbuild.build({
  entryPoints: [join(source, "app.js"), ...VIEWS.map(({name}) => join(source, "views", name, "view.js"))],
  outdir: js,
  outbase: source,
  bundle: true,
  splitting: true,
  chunkNames: "shared-[hash]",
  minify: true,
  format: "esm",
  target: "es2022",
  nodePaths: [join(process.cwd(), "node_modules")],
  legalComments: "none", // they stand in the file of licences
  metafile: true,
  logLevel: "warning",
});

// A sheet is one file too, of the parts that it imports. Its rules are left as they are written.
await esbuild.build({
  entryPoints: [join(source, "../css/*.css")],
  outdir: join(js, "../css"),
  bundle: true,
  minifyWhitespace: true,
  logLevel: "warning",
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
  return (
    `${name} ${version} ` +
    `(${license})\n\n${file ? readFileSync(join(folder, file), "utf8").trim() : "no licence file in the package"}\n`
  );
});
writeFileSync(join(js, "licences.txt"), texts.join("\n----\n\n"));
