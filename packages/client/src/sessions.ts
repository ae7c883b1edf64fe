import {
  AppendConversationRequest,
  CancelTurnRequest,
  CreateSessionRequest,
  DeleteSessionRequest,
  ForkSessionRequest,
  PageQuery,
  type PageQueryValue,
  ReplaceSessionConfigurationRequest,
  SessionListQuery,
  type SessionState,
  UpdateSessionRequest
} from "@harness/protocol"
import { Effect } from "effect"
import type { Api, Call } from "./api.ts"
import {
  type EntryAt,
  entryPath,
  type ForkAt,
  forkPath,
  parted,
  partedOptional,
  type ServerAt,
  type SessionAt,
  serverPath,
  sessionPath
} from "./input.ts"

/** Filters and page of a server's sessions. */
export interface ListSessions extends ServerAt, PageQueryValue {
  readonly workdir?: string | undefined
  /** Only those this session spawned. */
  readonly parent?: string | undefined
  readonly state?: SessionState | undefined
}

const read = parted(sessionPath, PageQuery)
const at = partedOptional(sessionPath, DeleteSessionRequest)
const urlParams = {}

const inputs = {
  list: parted(serverPath, SessionListQuery),
  create: partedOptional(sessionPath, CreateSessionRequest),
  update: parted(sessionPath, UpdateSessionRequest),
  configure: parted(sessionPath, ReplaceSessionConfigurationRequest),
  fork: partedOptional(forkPath, ForkSessionRequest),
  cancel: partedOptional(sessionPath, CancelTurnRequest),
  append: parted(entryPath, AppendConversationRequest)
}

/** Sessions: made, read, changed, forked, deleted. */
export const sessions = (api: Api, call: Call) => ({
  /** One page, oldest first; the next one starts `after` its `next`. */
  list: (input: ListSessions) =>
    Effect.flatMap(inputs.list(input), ({ path, rest }) =>
      call("sessions.list", api.sessions().listSessions({ path, urlParams: rest }))
    ),
  /** Makes the session, or names the one this request made before. */
  create: (input: SessionAt & typeof CreateSessionRequest.Encoded) =>
    Effect.flatMap(inputs.create(input), ({ path, rest }) =>
      call("sessions.create", api.sessions().createSession({ path, urlParams, payload: rest }))
    ),
  get: (input: SessionAt) =>
    Effect.flatMap(at(input), ({ path }) => call("sessions.get", api.sessions().getSession({ path, urlParams }))),
  /** Gives it another title. */
  update: (input: SessionAt & typeof UpdateSessionRequest.Encoded) =>
    Effect.flatMap(inputs.update(input), ({ path, rest }) =>
      call("sessions.update", api.sessions().updateSession({ path, urlParams, payload: rest }))
    ),
  /** Deletes it with the sessions it spawned; forks stay. */
  delete: (input: SessionAt & typeof DeleteSessionRequest.Encoded) =>
    Effect.flatMap(at(input), ({ path, rest }) =>
      call("sessions.delete", api.sessions().deleteSession({ path, urlParams, payload: rest }))
    ),
  /** What its next turn runs with. */
  configuration: (input: SessionAt) =>
    Effect.flatMap(at(input), ({ path }) =>
      call("sessions.configuration", api.sessions().getConfiguration({ path, urlParams }))
    ),
  /** Replaces that whole; a stale `expectedRevision` is a ConflictError. */
  configure: (input: SessionAt & typeof ReplaceSessionConfigurationRequest.Encoded) =>
    Effect.flatMap(inputs.configure(input), ({ path, rest }) =>
      call("sessions.configure", api.sessions().replaceConfiguration({ path, urlParams, payload: rest }))
    ),
  /** What it is doing, and what it waits on. */
  status: (input: SessionAt) =>
    Effect.flatMap(at(input), ({ path }) => call("sessions.status", api.sessions().status({ path, urlParams }))),
  /** One page of what the model would be sent. */
  history: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(read(input), ({ path, rest }) =>
      call("sessions.history", api.sessions().history({ path, urlParams: rest }))
    ),
  /** One page of the sessions it spawned. */
  children: (input: SessionAt & PageQueryValue) =>
    Effect.flatMap(read(input), ({ path, rest }) =>
      call("sessions.children", api.sessions().children({ path, urlParams: rest }))
    ),
  /** Copies its settled history, or the part before `turnId`, or `through` something, into a new session. */
  fork: (input: ForkAt & typeof ForkSessionRequest.Encoded) =>
    Effect.flatMap(inputs.fork(input), ({ path, rest }) =>
      call("sessions.fork", api.forks().forkSession({ path, urlParams, payload: rest }))
    ),
  /** Stops whatever turn it runs. Not repeated once it may have arrived: the next turn could be running by then. */
  cancel: (input: SessionAt & typeof CancelTurnRequest.Encoded) =>
    Effect.flatMap(inputs.cancel(input), ({ path, rest }) =>
      call("sessions.cancel", api.turns().cancelSession({ path, urlParams, payload: rest }), { repeat: "unaccepted" })
    ),
  /**
   * Lets the sub-agents it waits for go on by themselves. Not repeated once it may have arrived: it could be waiting for
   * others by then.
   */
  background: (input: SessionAt) =>
    Effect.flatMap(at(input), ({ path }) =>
      call("sessions.background", api.background().backgroundSession({ path, urlParams }), { repeat: "unaccepted" })
    ),
  /** Appends an entry to its history without running a turn. */
  append: (input: EntryAt & typeof AppendConversationRequest.Encoded) =>
    Effect.flatMap(inputs.append(input), ({ path, rest }) =>
      call("sessions.append", api.conversation().appendEntry({ path, urlParams, payload: rest }))
    )
})
