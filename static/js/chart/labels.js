// Where the points' numbers go, so that none hides another: pure geometry in pixels.

const overlaps = (a, b, gap) => a.x0 < b.x1 + gap && b.x0 < a.x1 + gap && a.y0 < b.y1 + gap && b.y0 < a.y1 + gap;
const boxAt = (x, y, width, height) => ({x0: x - width / 2, x1: x + width / 2, y0: y - height / 2, y1: y + height / 2});

/** From this distance on, in pixels, a label needs a line to its point. */
export const LEADER = 20;

/**
 * anchors: [{x, y, width, height}], the points and the sizes of their labels; obstacles: boxes that no label may cover;
 * frame: the box that labels stay in. Returns the labels' centres, in the order of the anchors. Tries circles of
 * growing radius around each point, straight up first; the crowded come first, so that labels stay near. Without a line
 * a label stays nearer to its own point than to any other.
 */
export function placeLabels(anchors, obstacles, frame) {
  const taken = [...obstacles];
  const centres = new Array(anchors.length);
  const crowd = anchors.map((a) => anchors.filter((b) => Math.hypot(a.x - b.x, a.y - b.y) < 40).length);
  const order = anchors.map((_, i) => i).sort((a, b) => crowd[b] - crowd[a] || a - b);
  for (const index of order) {
    const {x, y, width, height} = anchors[index];
    let best = null;
    for (let radius = 15; radius <= 400 && best === null; radius += 6) {
      const steps = radius < 30 ? 12 : 24;
      for (let step = 0; step < steps; step++) {
        const turn = (step % 2 ? 1 : -1) * Math.ceil(step / 2) * ((2 * Math.PI) / steps);
        const centre = {x: x + radius * Math.sin(turn), y: y - radius * Math.cos(turn)};
        const box = boxAt(centre.x, centre.y, width, height);
        if (box.x0 < frame.x0 || box.x1 > frame.x1 || box.y0 < frame.y0 || box.y1 > frame.y1) continue;
        if (
          radius < LEADER &&
          anchors.some((other, i) => i !== index && Math.hypot(other.x - centre.x, other.y - centre.y) < radius + 4)
        ) {
          continue;
        }
        if (taken.some((other) => overlaps(box, other, 2))) continue;
        best = centre;
        taken.push(box);
        break;
      }
    }
    centres[index] = best ?? {x, y};
  }
  return centres;
}

export {boxAt};
