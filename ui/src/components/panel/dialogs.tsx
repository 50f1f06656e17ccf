// SPDX-License-Identifier: Apache-2.0
// The two questions that the panel asks: where source code is, and what to hide.

import { useState } from "preact/hooks";
import { sourceTemplate } from "../../lib/theme.ts";
import { Button, Dialog } from "../basics.tsx";
import { problemOf, sourceLink } from "./links.ts";
import type { Panel } from "./panel.ts";
import { hidingOf } from "./patterns.ts";

function Ask({ title, label, value, problem, hint, onInput, onDone, onClose }: {
  title: string;
  label: string;
  value: string;
  problem: string | null;
  hint: preact.ComponentChildren;
  onInput: (value: string) => void;
  onDone: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === null) onDone();
        }}
      >
        <label class="panel-ask">
          <span>{label}</span>
          <input class="field mono" value={value} spellcheck={false} autocomplete="off" aria-invalid={problem !== null} onInput={(event) => onInput(event.currentTarget.value)} />
        </label>
        {problem === null ? <div class="muted">{hint}</div> : <p class="panel-problem" role="alert">{problem}</p>}
        <div class="row">
          <button type="submit" class="button main" disabled={problem !== null}>Save</button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
    </Dialog>
  );
}

const example = { file: "src/main.c", line: 42, module: "shop", function: "main" };

export function SourceDialog({ onClose }: { onClose: () => void }) {
  const [value, setValue] = useState(sourceTemplate.value);
  const problem = value === "" ? null : problemOf(value);
  const link = sourceLink(value, example);
  return (
    <Ask
      title="Where the source code is"
      label="Link to a line; {file}, {line}, {module} and {function} are filled in"
      value={value}
      problem={problem}
      hint={link ? <>For {example.file}:{example.line} that is <code>{link}</code></> : <>Such as <code>https://git.example.org/shop/blob/main/{"{file}"}#L{"{line}"}</code>. It is kept in this browser.</>}
      onInput={setValue}
      onDone={() => {
        sourceTemplate.value = value;
        onClose();
      }}
      onClose={onClose}
    />
  );
}

export function HideDialog({ panel, onClose }: { panel: Panel; onClose: () => void }) {
  const [value, setValue] = useState(panel.state.hide);
  const hiding = hidingOf(value);
  const nHidden = hiding ? panel.base.names.filter(hiding.isHidden).length : 0;
  return (
    <Ask
      title="Hide frames"
      label="Regular expression; frames whose names match are left out"
      value={value}
      problem={hiding?.problem ?? null}
      hint={value === "" ? "What they call is then shown below their callers, so that nothing is lost." : `${nHidden} of ${panel.base.names.length} functions match.`}
      onInput={setValue}
      onDone={() => {
        panel.change({ hide: value });
        onClose();
      }}
      onClose={onClose}
    />
  );
}
