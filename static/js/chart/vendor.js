// What the page takes from npm; what is not named here is left out of what is served.
export {areaY, axisX, axisY, dot, gridX, gridY, line, link, plot, ruleX} from "@observablehq/plot";
