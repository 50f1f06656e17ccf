// SPDX-License-Identifier: Apache-2.0
// Profiles that somebody uploads to look at: /api/v1/adhoc.

import { decodeFlame } from "../flame/decode.ts";
import type { FlameTree } from "../flame/tree.ts";
import { ApiError, apiUrl, call, failureOf, getBytes, getJson } from "./client.ts";

export interface AdhocFile {
  id: string;
  name: string;
  uploaded: string; // ISO 8601
  expires: string;
  bytes: number;
}

export interface AdhocProfile extends AdhocFile {
  type: string; // the one that is shown
  unit: string;
  types: { type: string; unit: string }[];
}

export interface AdhocView {
  id: string;
  type: string; // "" = its default
  against: string; // the id of what it became: a diff; "" = alone
  scale: string; // of a diff: what is after is scaled to equal "totals"; "" = as it is
}

/* As many as the server gives: nothing is cut off, since a file cannot be asked for a part of it. */
const maxNodes = 1048576;

export function pathOfFile(id: string): string {
  return `adhoc/${encodeURIComponent(id)}`;
}

/** All uploads, newest first. */
export async function listFiles(signal: AbortSignal): Promise<AdhocFile[]> {
  return (await getJson<{ profiles: AdhocFile[] }>("adhoc", {}, signal)).data.profiles;
}

/** What is known about an upload. */
export async function describeFile(id: string, type: string, signal: AbortSignal): Promise<AdhocProfile> {
  return (await getJson<AdhocProfile>(pathOfFile(id), { format: "top", rows: 1, type }, signal)).data;
}

export async function loadTree(view: AdhocView, signal: AbortSignal): Promise<FlameTree> {
  const query = { format: "flame", type: view.type, against: view.against, scale: view.against && view.scale, "max-nodes": maxNodes };
  return decodeFlame((await getBytes(pathOfFile(view.id), query, signal)).data);
}

export async function forgetFile(id: string): Promise<void> {
  await call(pathOfFile(id), {}, { method: "DELETE" });
}

/** Sends a file; `onProgress` hears which part of it has gone out, from 0 to 1. */
export function uploadFile(file: File, signal: AbortSignal, onProgress: (share: number) => void): Promise<AdhocProfile> {
  const url = apiUrl("adhoc", { name: file.name.slice(0, 120) });
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest(); /* fetch does not tell how far an upload got */
    const stop = () => request.abort();
    signal.addEventListener("abort", stop, { once: true });
    request.upload.onprogress = (event) => onProgress(event.total > 0 ? event.loaded / event.total : 0);
    request.onload = () => {
      if (request.status < 300) resolve(JSON.parse(request.responseText) as AdhocProfile);
      else failureOf(new Response(request.responseText || null, { status: request.status }), url).then(reject, reject);
    };
    request.onerror = () => {
      const sentence = `Sending ${file.name} failed: the server cannot be reached, refused a file of this size, or the file cannot be read any more.`;
      reject(new ApiError(sentence, 0, "unreachable", url));
    };
    request.onabort = () => reject(new DOMException("cancelled", "AbortError"));
    request.onloadend = () => signal.removeEventListener("abort", stop);
    request.open("POST", url);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.send(file);
  });
}
