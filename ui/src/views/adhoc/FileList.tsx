// SPDX-License-Identifier: Apache-2.0
// The way in: a place to drop files, and what was uploaded lately.

import { useMemo, useState } from "preact/hooks";
import { listFiles, type AdhocFile } from "../../api/adhoc.ts";
import { Button, CopyLine, Failure, Loading } from "../../components/basics.tsx";
import { VirtualTable, type Column, type Sort } from "../../components/VirtualTable.tsx";
import { formatBytes } from "../../lib/format.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, urlOf } from "../../lib/route.ts";
import { DeleteDialog, FileButton, timeText, UploadState } from "./parts.tsx";

type Comparison = (a: AdhocFile, b: AdhocFile) => number;
const orders: Record<string, Comparison> = {
  name: (a, b) => a.name.localeCompare(b.name),
  bytes: (a, b) => a.bytes - b.bytes,
  uploaded: (a, b) => Date.parse(a.uploaded) - Date.parse(b.uploaded),
  expires: (a, b) => Date.parse(a.expires) - Date.parse(b.expires),
};

function Intro() {
  return (
    <section class="card drop-here">
      <h1>Look at a profile of your own</h1>
      <p>
        Drop a file anywhere on this page, or two to compare them. Folded stacks, pprof, OpenTelemetry and gperftools profiles can be read,
        compressed or not.
      </p>
      <FileButton isMany>Choose files</FileButton>
      <p class="muted">
        An upload is kept apart from the profiles that the server collects, under a link that nobody can guess, and is deleted after a while.
      </p>
    </section>
  );
}

function Files({ files, onChange }: { files: AdhocFile[]; onChange: () => void }) {
  const [sort, setSort] = useState<Sort>({ id: "uploaded", isDescending: true });
  const [picked, setPicked] = useState<readonly string[]>([]);
  const [doomed, setDoomed] = useState<AdhocFile | null>(null);
  const rows = useMemo(() => {
    const sorted = [...files].sort(orders[sort.id]);
    return sort.isDescending ? sorted.reverse() : sorted;
  }, [files, sort]);
  const chosen = picked.filter((id) => files.some((file) => file.id === id));
  const pick = (id: string) => setPicked(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen.slice(-1), id]);
  const columns: Column<AdhocFile>[] = [
    {
      id: "pick", title: "Pick", hint: "Pick two to compare them", width: "3em",
      cell: (file) => <input type="checkbox" aria-label={`Pick ${file.name} to compare it`} checked={chosen.includes(file.id)} onClick={(event) => event.stopPropagation()} onChange={() => pick(file.id)} />,
    },
    { id: "name", title: "File", width: "minmax(9em, 1fr)", isSortable: true, cell: (file) => <a href={urlOf("adhoc", {}, file.id)} title={file.name}>{file.name}</a> },
    { id: "bytes", title: "Size", width: "6em", isNumber: true, isSortable: true, cell: (file) => formatBytes(file.bytes) },
    { id: "uploaded", title: "Uploaded", width: "10em", isNumber: true, isSortable: true, cell: (file) => timeText(file.uploaded) },
    { id: "expires", title: "Kept until", width: "10em", isNumber: true, isSortable: true, cell: (file) => timeText(file.expires) },
    {
      id: "delete", title: "", width: "5em",
      cell: (file) => <Button kind="quiet" label={`Delete ${file.name}`} onClick={() => setDoomed(file)}>Delete</Button>,
    },
  ];
  return (
    <section class="card adhoc-files" aria-label="Uploads">
      <header>
        <h2>Uploads</h2>
        <span class="spread" />
        <Button
          disabled={chosen.length !== 2}
          title={chosen.length === 2 ? undefined : "Pick two files first."}
          onClick={() => navigate({ view: "adhoc", rest: chosen[0], params: { against: chosen[1] } })}
        >
          Compare the picked two
        </Button>
      </header>
      <VirtualTable
        label="Uploaded files"
        columns={columns}
        rows={rows}
        keyOf={(file) => file.id}
        sort={sort}
        onSort={setSort}
        onOpen={(file) => navigate({ view: "adhoc", rest: file.id })}
        rowHeight={36}
        height={`${Math.min(12, rows.length + 1) * 36 + 2}px`}
      />
      {doomed && <DeleteDialog file={doomed} onClose={() => setDoomed(null)} onDeleted={() => { setDoomed(null); onChange(); }} />}
    </section>
  );
}

function Hints() {
  const address = new URL(document.baseURI).href.replace(/\/$/, "");
  return (
    <section class="stack">
      <h2>From a terminal</h2>
      <p class="muted">This uploads a file and prints its id; the page shows it at {address}/adhoc/ID.</p>
      <CopyLine text={`curl --data-binary @cpu.pb.gz '${address}/api/v1/adhoc?name=cpu.pb.gz'`} />
      <p class="muted">This makes one file that shows the flame graph without any server.</p>
      <CopyLine text="hearth convert cpu.pb.gz cpu.html" />
    </section>
  );
}

export function FileList() {
  const files = useResource("files", listFiles);
  return (
    <div class="view">
      <Intro />
      <UploadState />
      {files.error !== undefined && <Failure error={files.error} retry={files.retry} />}
      {files.value === undefined && files.isLoading && <Loading />}
      {files.value !== undefined && files.value.length > 0 && <Files files={files.value} onChange={files.retry} />}
      <Hints />
    </div>
  );
}
