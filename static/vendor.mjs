// What the page takes from npm; build.mjs bundles it into js/vendor.js, without what is not named here.
export {axisX, axisY, dot, gridX, gridY, line, link, plot, ruleX} from "@observablehq/plot";
