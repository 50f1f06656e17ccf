// SPDX-License-Identifier: Apache-2.0
// The whole page, in every view, takes files that are dropped on it.

import { useEffect, useState } from "preact/hooks";
import { navigate, route } from "../../lib/route.ts";
import { sendFiles } from "./uploads.ts";
import "./adhoc.css";

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

export function DropTarget() {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = "copy";
      setIsOver(true);
    };
    const onDragLeave = (event: DragEvent) => {
      if (event.relatedTarget === null) setIsOver(false);
    };
    const onDrop = (event: DragEvent) => {
      setIsOver(false);
      if (!hasFiles(event)) return;
      event.preventDefault();
      const files = [...(event.dataTransfer?.files ?? [])];
      if (route.peek().view !== "adhoc") navigate({ view: "adhoc" });
      void sendFiles(files);
    };
    addEventListener("dragover", onDragOver);
    addEventListener("dragleave", onDragLeave);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragover", onDragOver);
      removeEventListener("dragleave", onDragLeave);
      removeEventListener("drop", onDrop);
    };
  }, []);
  if (!isOver) return null;
  return (
    <div class="drop-cover" aria-hidden="true">
      <p>Drop a profile to look at it, or two to compare them.</p>
    </div>
  );
}
