// The daemon's API: all HTTP of the page goes through here.

const TOKEN = "rooflined-token";

/** An answer that is no success: code, message, next_action and field as the API gives them, retryAfter in seconds or null; status 0 when there was no answer. */
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

/** Whether a header can bring the text as a token; fetch throws at any character above U+00FF, as if there were no daemon. */
export const isToken = (text) => /^[\x21-\x7e]+$/.test(text);

/** Kept until the tab is closed, never longer. token: one that isToken. */
export function setToken(token) {
  sessionStorage.setItem(TOKEN, token);
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;

export function dropToken() {
  sessionStorage.removeItem(TOKEN);
}

/** The response, of any status; throws ApiError where there is none. The signal's abort comes through as it is. */
async function reach(method, path, {signal, headers = {}, body} = {}) {
  const token = sessionStorage.getItem(TOKEN);
  const all = token ? {...headers, Authorization: `Bearer ${token}`} : headers;
  try {
    return await fetch(path, {method, headers: all, body, signal, cache: "no-cache"});
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError({code: "unreachable", message: "The daemon does not answer.", next_action: "Check that rooflined runs, then try again."}, 0);
  }
}

/** A response that is no success, with what it says (null: nothing that is JSON), as an error. */
const refusal = (response, said) => new ApiError(said?.error ?? wordless(response.status), response.status, response.headers.get("Retry-After"));

/** The response of a success; throws ApiError for everything else. */
async function ask(method, path, options) {
  const response = await reach(method, path, options);
  if (response.ok) return response;
  throw refusal(response, await response.json().catch(() => null));
}

function wordless(status) {
  return {code: "bad_answer", message: `The daemon answered ${status} without words.`, next_action: "Read the daemon's log."};
}

async function read(response, how) {
  try {
    return await response[how]();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(wordless(response.status), response.status);
  }
}

/** GET, as JSON. */
export const get = async (path, {signal} = {}) => read(await ask("GET", path, {signal}), "json");

/** What /readyz says; that nothing can be measured now is an answer too. */
export async function readiness({signal} = {}) {
  const response = await reach("GET", "/readyz", {signal});
  const said = await read(response, "json");
  if (!Array.isArray(said?.reasons)) throw refusal(response, said);
  return said;
}

/** GET, as text. */
export const getText = async (path, {signal} = {}) => read(await ask("GET", path, {signal}), "text");

/** GET, as a Blob: for what is saved and may be large. */
export const getBlob = async (path, {signal} = {}) => read(await ask("GET", path, {signal}), "blob");

/** GET, as {body, etag, headers}: for what is written back with If-Match. */
export async function getTagged(path, {signal} = {}) {
  const response = await ask("GET", path, {signal});
  return {body: await read(response, "json"), etag: response.headers.get("ETag"), headers: response.headers};
}

/** Any other method. body: an object, sent as JSON; a FormData or null. Returns {status, headers, etag, body}; body is null where none came. */
export async function send(method, path, body = null, headers = {}, {signal} = {}) {
  const json = body !== null && !(body instanceof FormData);
  const response = await ask(method, path, {signal, headers: json ? {"Content-Type": "application/json", ...headers} : headers, body: json ? JSON.stringify(body) : body ?? undefined});
  const text = await read(response, "text");
  let made = null;
  try {
    made = text === "" ? null : JSON.parse(text);
  } catch {
    throw new ApiError(wordless(response.status), response.status);
  }
  return {status: response.status, headers: response.headers, etag: response.headers.get("ETag"), body: made};
}

/** POST of a FormData; told(share) hears how much of it has gone out, 0 to 1 (fetch could not tell). Returns {status, body}. */
export function upload(path, form, told, {signal} = {}) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    const token = sessionStorage.getItem(TOKEN);
    if (token) request.setRequestHeader("Authorization", `Bearer ${token}`);
    request.upload.addEventListener("progress", (event) => { if (event.lengthComputable) told(event.loaded / event.total); });
    request.addEventListener("error", () => reject(new ApiError({code: "unreachable", message: "The upload broke off.", next_action: "Check that rooflined runs and that the files are not over its limit, then send them again."}, 0)));
    request.addEventListener("abort", () => reject(new DOMException("left", "AbortError")));
    request.addEventListener("load", () => {
      let body = null;
      try {
        body = JSON.parse(request.responseText);
      } catch {
        // told below, by the status
      }
      if (request.status >= 200 && request.status < 300 && body !== null) resolve({status: request.status, body});
      else reject(new ApiError(body?.error ?? wordless(request.status), request.status, request.getResponseHeader("Retry-After")));
    });
    signal?.addEventListener("abort", () => request.abort());
    request.send(form);
  });
}

/** "/api/v1/runs" and {device, since: null} as one address; members that are null, undefined or empty are left out. */
export function address(path, query = {}) {
  const given = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ""));
  return given.size === 0 ? path : `${path}?${given}`;
}

export const run = (id, options) => get(`/api/v1/runs/${encodeURIComponent(id)}`, options);
/** The newest good run of any source, shortly, or null. */
export const newestRun = async (options) => (await get("/api/v1/runs?limit=1", options)).items[0] ?? null;
/** The newest job, or null. */
export const newestJob = async (options) => (await get("/api/v1/jobs?limit=1", options)).items[0] ?? null;
