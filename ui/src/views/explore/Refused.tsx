// SPDX-License-Identifier: Apache-2.0
// What to do where the server refuses a query; its sentence stands at the query itself.

import { getServices } from "../../api/census.ts";
import { Empty } from "../../components/basics.tsx";
import { printQuery, withTarget } from "../../lib/query.ts";
import { useResource } from "../../lib/resource.ts";
import { urlOf } from "../../lib/route.ts";
import type { TimeRange } from "../../lib/time.ts";
import { rangeParams } from "./state.ts";

const nOffered = 12;

export function Refused({ range }: { range: TimeRange }) {
  const services = useResource(`services|${range.from}|${range.until}`, () => getServices(range));
  const offered = (services.value ?? [])
    .slice()
    .sort((a, b) => (b.series ?? 0) - (a.series ?? 0))
    .slice(0, nOffered);
  const linkOf = (service: string) =>
    urlOf("explore", {
      query: printQuery(withTarget({ front: "", conditions: [] }, { service, type: "" })),
      ...rangeParams(range),
    });
  return (
    <section class="card">
      <Empty title="The query cannot be answered as it is">
        <p>The sentence below it says why. Change it above, or begin with a service that there is in this time:</p>
        <ul class="row refused-services" aria-label="Services">
          {offered.map(({ value }) => (
            <li key={value}>
              <a class="chip" href={linkOf(value)}>
                <bdi class="clip">{value}</bdi>
              </a>
            </li>
          ))}
          {offered.length === 0 && !services.isLoading && <li class="muted">There is none in this time.</li>}
        </ul>
      </Empty>
    </section>
  );
}
