// SPDX-License-Identifier: Apache-2.0
// Asking the server. Every call can be cancelled, and fails with the server's own sentence.

export interface Message {
  level: string;
  text: string;
}

/** What went wrong, said so that it can be shown as it is. `status` is 0 where no answer came. */
export class ApiError extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly code: string,
    readonly url: string,
  ) {
    super(message);
  }
}

export type Query = Record<string, string | number | boolean | null | undefined | readonly string[]>;

export interface CallOptions {
  signal?: AbortSignal | undefined;
  method?: "GET" | "POST" | "DELETE";
  body?: BodyInit;
  headers?: Record<string, string>;
}

/** The address of a call relative to the page, so that it holds behind a proxy too. Absent and empty values are left out. */
export function apiUrl(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === null || value === undefined || value === "" || value === false) continue;
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
  }
  const text = search.toString();
  return text ? `api/v1/${path}?${text}` : `api/v1/${path}`;
}

/** What an answer that is no success says. */
export async function failureOf(response: Response, url: string): Promise<ApiError> {
  const text = await response.text().catch(() => "");
  const code = response.headers.get("x-hearth-error") ?? "";
  try {
    const said = JSON.parse(text) as { message?: unknown; code?: unknown };
    if (typeof said.message === "string" && said.message) {
      return new ApiError(said.message, response.status, code || String(said.code ?? ""), url);
    }
  } catch {
    /* not JSON: a proxy in between, perhaps */
  }
  const words = text.length > 0 && text.length < 300 && !text.includes("<") ? `: ${text.trim()}` : "";
  return new ApiError(`The server answered with status ${response.status}${words}.`, response.status, code, url);
}

/** Sends a request; an answer that is no success throws ApiError, one that was cancelled a DOMException "AbortError". */
export async function call(path: string, query: Query = {}, options: CallOptions = {}): Promise<Response> {
  const url = apiUrl(path, query);
  let response: Response;
  try {
    response = await fetch(url, {
      method: options.method ?? "GET",
      signal: options.signal ?? null,
      body: options.body ?? null,
      headers: options.headers ?? {},
      credentials: "same-origin",
    });
  } catch (error) {
    if (isCancelled(error)) throw error;
    throw new ApiError(`The server at ${location.host} cannot be reached. Is it running?`, 0, "unreachable", url);
  }
  if (!response.ok) throw await failureOf(response, url);
  return response;
}

/** What the server says beside its answer: which type was chosen, why an answer is empty. */
export function messagesOf(response: Response): Message[] {
  try {
    const said: unknown = JSON.parse(response.headers.get("x-hearth-messages") ?? "[]");
    return Array.isArray(said) ? (said as Message[]) : [];
  } catch {
    return [];
  }
}

async function bodyOf<T>(response: Response, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isCancelled(error)) throw error;
    throw new ApiError("The connection ended in the middle of the answer.", 0, "cut", response.url);
  }
}

export async function getJson<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<{ data: T; messages: Message[] }> {
  const response = await call(path, query, { signal });
  return { data: await bodyOf(response, () => response.json() as Promise<T>), messages: messagesOf(response) };
}

export async function getBytes(path: string, query: Query = {}, signal?: AbortSignal): Promise<{ data: Uint8Array; messages: Message[] }> {
  const response = await call(path, query, { signal });
  const buffer = await bodyOf(response, () => response.arrayBuffer());
  return { data: new Uint8Array(buffer), messages: messagesOf(response) };
}

export function isCancelled(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}

/** A sentence for whatever was thrown. */
export function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
