// A run never changes, but it may stop to be the newest: the reader is told, and what is on the page stays as it is.
import * as api from "../../parts/api.js";
import {button} from "../../parts/controls.js";
import {element} from "../../parts/dom.js";
import {day} from "../../parts/format.js";
import {bdi} from "../../parts/inline.js";

const POLL_MS = 20000;

/**
 * Asks now and then for the newest good run, of the run's device or, where the address names no run, of all; that the
 * daemon does not answer is told by the frame. newest(): the id of the device's newest run when the view was drawn, as
 * far as it is known. to(run): the address of another run in the state that the view has now.
 */
export function watch(run, {latest, newest, to}, shell) {
  let told = run.id;
  // what was the newest at the start: an older run that was asked for by its id is not out of date
  let first = latest ? run.id : undefined;
  const tell = (other) => {
    const more = [
      other.device.id === run.device.id ? null : bdi(other.device.name),
      other.driver === null ? null : `driver ${other.driver}`,
      day(other.date),
      other.source === "measured" ? null : other.source,
    ];
    const words = more.filter(Boolean).flatMap((part, i) => (i === 0 ? [part] : [", ", part]));
    shell.tell(
      element("p", {}, element("strong", {}, `Run ${other.id} is newer than run ${run.id}`), ": ", ...words, "."),
      element(
        "p",
        {class: "buttons"},
        element("a", {class: "button", href: to(other)}, `Show run ${other.id}`),
        button(`Stay with run ${run.id}`, () => shell.tell()),
      ),
    );
  };
  shell.every(POLL_MS, async () => {
    const {
      items: [other = null],
    } = await api.get(api.address("/api/v1/runs", {limit: 1, device: latest ? null : run.device.id}), shell);
    first ??= newest() ?? other?.id ?? null;
    if (first !== run.id || other === null || other.id === told) return true;
    told = other.id;
    if (other.id === run.id) {
      shell.tell();
    } // the newer one has been retired
    else tell(other);
    return true;
  });
}
