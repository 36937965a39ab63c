// The daemon's API, as far as this page reads it.

const TOKEN = "rooflined-token";

/** An answer that is no success: code, message, next_action as the API gives them. */
export class ApiError extends Error {
  constructor({code, message, next_action: nextAction}, status) {
    super(message);
    this.code = code;
    this.nextAction = nextAction;
    this.status = status;
  }
}

/** Kept until the tab is closed, never longer. */
export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

async function get(path) {
  const token = sessionStorage.getItem(TOKEN);
  let response;
  try {
    response = await fetch(path, {headers: token ? {Authorization: `Bearer ${token}`} : {}, cache: "no-cache"});
  } catch {
    throw new ApiError({code: "unreachable", message: "The daemon does not answer.", next_action: "Check that rooflined runs, then try again."}, 0);
  }
  let body = null;
  try {
    body = await response.json();
  } catch {
    // told below, by the status
  }
  if (response.ok && body !== null) return body;
  const error = body?.error ?? {code: "bad_answer", message: `The daemon answered ${response.status} without words.`, next_action: "Read the daemon's log."};
  throw new ApiError(error, response.status);
}

export const run = (id) => get(`/api/v1/runs/${encodeURIComponent(id)}`);
/** The newest good run of any source, shortly, or null. */
export const newestRun = async () => (await get("/api/v1/runs?limit=1")).items[0] ?? null;
/** The newest job, or null. */
export const newestJob = async () => (await get("/api/v1/jobs?limit=1")).items[0] ?? null;
