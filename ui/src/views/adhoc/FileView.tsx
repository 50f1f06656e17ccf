// SPDX-License-Identifier: Apache-2.0
// One upload, or two side by side, in the panel that shows every profile.

import { useEffect, useMemo, useState } from "preact/hooks";
import { apiUrl } from "../../api/client.ts";
import { describeFile, listFiles, loadTree, pathOfFile, type AdhocFile, type AdhocProfile } from "../../api/adhoc.ts";
import { Button, copyText, Failure, Loading, Segmented } from "../../components/basics.tsx";
import { MenuButton, type MenuEntry } from "../../components/Menu.tsx";
import { ProfilePanel, type ProfileSource } from "../../components/panel/ProfilePanel.tsx";
import { formatBytes } from "../../lib/format.ts";
import { shortPath } from "../../lib/path.ts";
import { useResource } from "../../lib/resource.ts";
import { navigate, route, urlOf } from "../../lib/route.ts";
import { DeleteDialog, FileButton, timeText, UploadState } from "./parts.tsx";

const maxSegments = 4; // more types go into a list

function TypePicker({ file }: { file: AdhocProfile }) {
  if (file.types.length < 2) return null;
  const choose = (type: string) => navigate({ params: { type } });
  if (file.types.length <= maxSegments) {
    return <Segmented label="Type of values" value={file.type} choices={file.types.map(({ type }) => ({ value: type, text: type }))} onChange={choose} />;
  }
  return (
    <label class="row">
      Type of values
      <select class="field" value={file.type} onChange={(event) => choose(event.currentTarget.value)}>
        {file.types.map(({ type, unit }) => <option key={type} value={type}>{unit ? `${type} (${unit})` : type}</option>)}
      </select>
    </label>
  );
}

function CompareMenu({ id, files }: { id: string; files: readonly AdhocFile[] }) {
  const others = files.filter((file) => file.id !== id).slice(0, 12);
  if (others.length === 0) return null;
  const entries: MenuEntry[] = [
    { heading: "This file before, and after it" },
    ...others.map((file) => ({ text: file.name, hint: timeText(file.uploaded), run: () => navigate({ params: { against: file.id } }) })),
  ];
  return <MenuButton label="Compare with… another upload" entries={() => entries}>Compare with…</MenuButton>;
}

const scales = [
  { value: "", text: "Absolute", title: "Values as they are" },
  { value: "totals", text: "Shares", title: "As if both files came to the same total" },
];

function FileLine({ side, file }: { side?: string; file: AdhocProfile }) {
  return (
    <p class="adhoc-file">
      {side && <span class="chip">{side}</span>}
      {side ? <a class="clip" href={urlOf("adhoc", {}, file.id)}>{file.name}</a> : <span class="clip">{file.name}</span>}
      <span class="muted">{formatBytes(file.bytes)}, uploaded {timeText(file.uploaded)}, kept until {timeText(file.expires)}</span>
    </p>
  );
}

/** How the panel gets more about these files. */
function sourceOf(file: AdhocProfile, other: AdhocProfile | null, scale: string): ProfileSource {
  const { type } = file;
  const urlAs = (format: string) => apiUrl(pathOfFile(file.id), other ? { format, type, against: other.id, scale } : { format, type });
  const address = () => new URL(urlAs("flame"), document.baseURI).href;
  const source: ProfileSource = {
    kind: "adhoc",
    title: other ? `${file.name} against ${other.name}` : file.name,
    curl: () => `curl --compressed '${address()}'`,
    exportUrl: (format, path) => (path && path.length > 0) || (other && format !== "html") ? null : urlAs(format),
  };
  if (other) {
    source.kind = "diff";
    const side = (of: AdhocProfile) => (path: string[]) => urlOf("adhoc", { type, zoom: shortPath(path) }, of.id);
    source.sides = { before: side(file), after: side(other) };
  }
  return source;
}

export function FileView({ id }: { id: string }) {
  const { params } = route.value;
  const type = params.get("type") ?? "";
  const against = params.get("against") ?? "";
  const scale = params.get("scale") ?? "";
  const [isDoomed, setIsDoomed] = useState(false);
  const file = useResource(`${id} ${type}`, (signal) => describeFile(id, type, signal));
  const other = useResource(against ? `${against} ${type}` : null, (signal) => describeFile(against, type, signal));
  const tree = useResource(`${id} ${against} ${type} ${scale}`, (signal) => loadTree({ id, against, type, scale }, signal));
  const files = useResource("files", listFiles);
  const known = file.value;
  const compared = against && other.value?.id === against ? other.value : null;
  const isReady = known !== undefined && (!against || compared !== null);
  const source = useMemo(() => (isReady ? sourceOf(known, compared, scale) : null), [isReady, known, compared, scale]);

  useEffect(() => {
    if (source) document.title = `${source.title} · hearth`;
    return () => {
      document.title = "Ad hoc · hearth";
    };
  }, [source]);

  const error = tree.error ?? file.error ?? other.error;
  const retry = () => [tree, file, other].forEach((one) => one.error !== undefined && one.retry());
  return (
    <div class="view">
      <header class="adhoc-head">
        <div class="adhoc-names">
          <h1 class="visually-hidden">{source?.title ?? "An upload"}</h1>
          {known && <FileLine file={known} {...(against ? { side: "Before" } : {})} />}
          {compared && <FileLine file={compared} side="After" />}
        </div>
        {known && (
          <div class="row">
            <TypePicker file={known} />
            {against ? (
              <>
                <Segmented label="Scale" value={scale} choices={scales} onChange={(value) => navigate({ params: { scale: value } })} />
                <Button onClick={() => navigate({ rest: against, params: { against: id } })}>Swap</Button>
                <Button onClick={() => navigate({ params: { against: null, scale: null } })}>Stop comparing</Button>
              </>
            ) : (
              <>
                <CompareMenu id={id} files={files.value ?? []} />
                <FileButton before={id}>Compare with a file</FileButton>
                <Button onClick={() => setIsDoomed(true)}>Delete</Button>
              </>
            )}
            <Button title="Copy the private link to this view" onClick={() => void copyText(location.href, "The link is")}>Copy link</Button>
          </div>
        )}
      </header>
      <UploadState />
      {error !== undefined && <Failure error={error} retry={retry} />}
      {tree.value === undefined && tree.isLoading && <Loading what="Loading the profile" />}
      {tree.value !== undefined && error === undefined && source && <ProfilePanel tree={tree.value} source={source} />}
      {error !== undefined && <p><a href={urlOf("adhoc")}>All uploads</a></p>}
      {isDoomed && known && <DeleteDialog file={known} onClose={() => setIsDoomed(false)} onDeleted={() => navigate({ view: "adhoc" }, "replace")} />}
    </div>
  );
}
