// Requests to the server. Writing ones carry the header that a foreign page cannot send.

/** An answer that is not 2xx, with the server's own words. */
export class RequestError extends Error {
  /** @param {number} status @param {string} message @param {string} [hint] */
  constructor(status, message, hint) {
    super(hint ? `${message}: ${hint}` : message);
    this.status = status;
    this.hint = hint;
  }
}

/**
 * @param {"GET"|"POST"|"PUT"|"DELETE"} method
 * @param {string} path
 * @param {any} [body] an object becomes JSON; FormData and Blob go as they are
 * @returns {Promise<any>} the JSON of the answer
 */
export async function request(method, path, body) {
  const options = { method, headers: { Accept: "application/json" }, credentials: "same-origin", cache: "no-store" };
  if (method !== "GET") options.headers["X-Tenpass"] = "1";
  if (body instanceof FormData || body instanceof Blob) options.body = body;
  else if (method !== "GET") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body ?? {});
  }
  const answer = await fetch(path, options);
  const json = await answer.json().catch(() => null);
  if (!answer.ok)
    throw new RequestError(
      answer.status,
      json?.error?.message ?? `${answer.status} ${answer.statusText}`.trim(),
      json?.error?.hint,
    );
  return json;
}

/** @param {string} path */
export const get = (path) => request("GET", path);
/** @param {string} path @param {any} [body] */
export const post = (path, body) => request("POST", path, body);
