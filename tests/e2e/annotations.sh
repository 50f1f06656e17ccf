#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Annotations: noting what happened, finding it by time and labels, forgetting it.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/serverlib.sh
. "$root/tests/serverlib.sh"
# note JSON OPTIONS...: keeps $code and $out.
note() {
    body=$1
    shift
    ask /api/v1/annotations -H 'Content-Type: application/json' --data-binary "$body" "$@"
}
texts() { json '[a["text"] for a in d["annotations"]]'; }

t "what was noted is found by time and labels"
start_server data
ask /api/v1/annotations && answers 200 '{"annotations":[]}'
note '{"time": "2026-11-15T10:00:00Z", "text": "deployed 1.2.4", "labels": {"service.name": "api", "version": "1.2.4"}}'
answers 201 '"time":"2026-11-15T10:00:00.000Z"'
id=$(json 'd["id"]')
note '{"time": 1763190000, "text": "seconds", "labels": {"service_name": "shop"}}' && answers 201 '"time":"2025-11-15T07:00:00.000Z"'
note '{"text": "now"}' && answers 201 '"text":"now","labels":{}'
ask /api/v1/annotations
same "$(texts)" "['seconds', 'deployed 1.2.4', 'now']"
ask '/api/v1/annotations?from=2026-11-15T09:00:00Z&until=2026-11-15T10:00:01Z'
same "$(texts)" "['deployed 1.2.4']"
ask '/api/v1/annotations?selector=%7Bservice_name%3D~%22a.%2A%22%7D'
same "$(texts)" "['deployed 1.2.4']"

t "what makes no sense is refused in a sentence"
note '{"text": ""}' && answers 400 'an annotation needs a text'
note '{"text": "x", "colour": "red"}' && answers 400 '\"colour\" is not known; \"time\", \"text\" and \"labels\" are'
note '{"text": "x", "time": "soon"}' && answers 400 'soon'
note 'text=x' && answers 400 'line 1, column 1'
ask '/api/v1/annotations?from=now&until=now-1h' && answers 400 'until is not behind from'
ask '/api/v1/annotations?selector=%7B' && answers 400 'selector'
note '{"text": "x"}' -H 'Origin: http://evil.example' && answers 403 'may not change anything'

t "they outlive the server, and are forgotten by id"
stop_server
start_server data
ask "/api/v1/annotations/$id" -X DELETE -H 'Origin: http://evil.example' && answers 403 'may not change anything'
ask "/api/v1/annotations/$id" -X DELETE && answers 204 ''
ask "/api/v1/annotations/$id" -X DELETE && answers 404 "there is no annotation with the id '$id'"
ask /api/v1/annotations
same "$(texts)" "['seconds', 'now']"
stop_server

t "tenants have their own"
start_server data --multi-tenant
note '{"text": "x"}' && answers 401 'no org id'
note '{"text": "theirs"}' -H 'X-Scope-OrgID: other' && answers 201 ''
ask /api/v1/annotations -H 'X-Scope-OrgID: other'
same "$(texts)" "['theirs']"
stop_server
finish
