// The daemon's API: all HTTP of the page goes through here.

const TOKEN = "rooflined-token";
// for an answer to begin, and again for its end: a comparison of many runs takes the daemon seconds
const LIMIT_MS = 20000;

/**
 * An answer that is no success: code, message, next_action and field as the API gives them, retryAfter in seconds or
 * null; status 0 when there was no answer.
 */
export class ApiError extends Error {
  constructor({code, message, next_action: nextAction, field}, status, retryAfter = null) {
    super(message);
    this.code = code;
    this.nextAction = nextAction;
    this.field = field ?? null;
    this.status = status;
    this.retryAfter = seconds(retryAfter);
  }
}

/** Retry-After as the daemon gives it: whole seconds. */
export const seconds = (header) => (/^\d{1,6}$/.test(header ?? "") ? Number(header) : null);

/**
 * Whether a header can bring the text as a token; fetch throws at any character above U+00FF, as if there were no
 * daemon.
 */
export const isToken = (text) => /^[\x21-\x7e]+$/.test(text);

/** Kept until the tab is closed, never longer. token: one that isToken. */
export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

export function dropToken() {
  sessionStorage.removeItem(TOKEN);
}

/**
 * Where an address of the daemon's is for this page: a proxy may have put both under a path of its own,
 * https://host/gpu/.
 */
export const place = (path) => new URL(path.slice(1), document.baseURI).href;

/** The response, of any status; throws ApiError where there is none. The signal's abort comes through as it is. */
async function reach(method, path, {signal, headers = {}, body} = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const all = token ? {...headers, Authorization: `Bearer ${token}`} : headers;
  const at = place(path);
  try {
    return await fetch(at, {method, headers: all, body, signal, cache: "no-cache"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(
      {
        code: "unreachable",
        message: "The daemon does not answer.",
        next_action: "Check that rooflined runs, then try again.",
      },
      0,
    );
  }
}

/**
 * ask(within, heard) with a limit: within is the signal for what it asks, heard() is called once the answer has begun.
 * A daemon that is stopped takes connections and never answers; without the limit nothing would ever say so. Throws
 * ApiError then; the abort of the view's own signal comes through as it is.
 */
async function limited(signal, ask) {
  const silence = new AbortController();
  const begin = () => setTimeout(() => silence.abort(), LIMIT_MS);
  let timer = begin();
  try {
    return await ask(AbortSignal.any([silence.signal, ...(signal ? [signal] : [])]), () => {
      clearTimeout(timer);
      timer = begin();
    });
  } catch (error) {
    if (!silence.signal.aborted || signal?.aborted) throw error;
    throw new ApiError(
      {
        code: "unreachable",
        message: `The daemon did not answer within ${LIMIT_MS / 1000} s.`,
        next_action:
          "Check that rooflined is not stopped, that its machine is not overloaded and that it can be reached, " +
          "then try again.",
      },
      0,
    );
  } finally {
    clearTimeout(timer);
  }
}

/** A response that is no success, with what it says (null: nothing that is JSON), as an error. */
const refusal = (response, said) =>
  new ApiError(said?.error ?? wordless(response.status), response.status, response.headers.get("Retry-After"));

/** The response of a success; throws ApiError for everything else. */
async function ask(method, path, options) {
  const response = await reach(method, path, options);
  if (response.ok) return response;
  throw refusal(response, await response.json().catch(() => null));
}

function wordless(status) {
  return {
    code: "bad_answer",
    message: `The daemon answered ${status} without words.`,
    next_action: "Read the daemon's log.",
  };
}

async function read(response, how) {
  try {
    return await response[how]();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (error.name === "SyntaxError") throw new ApiError(wordless(response.status), response.status);
    throw new ApiError(
      {
        code: "unreachable",
        message: "The answer broke off.",
        next_action: "Check that rooflined runs, then try again.",
      },
      0,
    );
  }
}

/** GET with a limit: {response, said}, the latter as how reads it, "json" or "text". */
const getWithin = (path, signal, how) =>
  limited(signal, async (within, heard) => {
    const response = await ask("GET", path, {signal: within});
    heard();
    return {response, said: await read(response, how)};
  });

/** GET, as JSON. */
export const get = async (path, {signal} = {}) => (await getWithin(path, signal, "json")).said;

/** What /readyz says; that nothing can be measured now is an answer too. */
export async function readiness({signal} = {}) {
  const {response, said} = await limited(signal, async (within, heard) => {
    const answer = await reach("GET", "/readyz", {signal: within});
    heard();
    return {response: answer, said: await read(answer, "json")};
  });
  if (!Array.isArray(said?.reasons)) throw refusal(response, said);
  return said;
}

/** GET, as text. */
export const getText = async (path, {signal} = {}) => (await getWithin(path, signal, "text")).said;

/** GET, as a Blob: for what is saved and may be large, so without a limit. */
export const getBlob = async (path, {signal} = {}) => read(await ask("GET", path, {signal}), "blob");

/** GET, as {body, etag, headers}: for what is written back with If-Match. */
export async function getTagged(path, {signal} = {}) {
  const {response, said} = await getWithin(path, signal, "json");
  return {body: said, etag: response.headers.get("ETag"), headers: response.headers};
}

/**
 * Any other method. body: an object, sent as JSON; a FormData or null. Returns {status, headers, etag, body}; body is
 * null where none came.
 */
export async function send(method, path, body = null, headers = {}, {signal} = {}) {
  const json = body !== null && !(body instanceof FormData);
  const response = await ask(method, path, {
    signal,
    headers: json ? {"Content-Type": "application/json", ...headers} : headers,
    body: json ? JSON.stringify(body) : (body ?? undefined),
  });
  const text = await read(response, "text");
  let made;
  try {
    made = text === "" ? null : JSON.parse(text);
  } catch {
    throw new ApiError(wordless(response.status), response.status);
  }
  return {status: response.status, headers: response.headers, etag: response.headers.get("ETag"), body: made};
}

/**
 * POST of a FormData; told(share) hears how much of it has gone out, 0 to 1 (fetch could not tell). Returns {status,
 * body, withdrawn}; withdrawn: of the run that it is.
 */
export function upload(path, form, told, {signal} = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", place(path));
    const token = sessionStorage.getItem(TOKEN);
    if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) told(event.loaded / event.total);
    });
    request.addEventListener("error", () =>
      reject(
        new ApiError(
          {
            code: "unreachable",
            message: "The upload broke off.",
            next_action: "Check that rooflined runs and that the files are not over its limit, then send them again.",
          },
          0,
        ),
      ),
    );
    request.addEventListener("abort", () => reject(new DOMException("left", "AbortError")));
    request.addEventListener("load", () => {
      let body = null;
      try {
        body = JSON.parse(request.responseText);
      } catch {
        // told below, by the status
      }
      if (request.status >= 200 && request.status < 300 && body !== null) {
        resolve({status: request.status, body, withdrawn: request.getResponseHeader("Run-Withdrawn") === "true"});
      } else {
        reject(
          new ApiError(
            body?.error ?? wordless(request.status),
            request.status,
            request.getResponseHeader("Retry-After"),
          ),
        );
      }
    });
    signal?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** "/api/v1/runs" and {device, since: null} as one address; members that are null, undefined or empty are left out. */
export function address(path, query = {}) {
  const given = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""),
  );
  return given.size === 0 ? path : `${path}?${given}`;
}

/**
 * Throws ApiError, as the daemon would answer, for what is no number: as a part of an address, a / or .csv in it would
 * be another route.
 */
function mustBeNumber(id, error) {
  if (!/^\d+$/.test(id)) throw new ApiError({...error, message: `there is no ${error.of} ${id.slice(0, 80)}`}, 404);
}

/** A run, whole. id: as the address of the page may have it. */
export async function run(id, options) {
  mustBeNumber(id, {of: "run", code: "run_not_found", next_action: "Choose a run that GET /api/v1/runs lists."});
  return get(`/api/v1/runs/${id}`, options);
}

/** A job as getTagged gives it. id: as the address of the page may have it. */
export async function job(id, options) {
  mustBeNumber(id, {of: "job", code: "not_found", next_action: "Choose a job that GET /api/v1/jobs lists."});
  return getTagged(`/api/v1/jobs/${id}`, options);
}

/** The newest good run of any source, shortly, or null. */
export const newestRun = async (options) => (await get("/api/v1/runs?limit=1", options)).items[0] ?? null;
/** The newest job, or null. */
export const newestJob = async (options) => (await get("/api/v1/jobs?limit=1", options)).items[0] ?? null;
