/** No request body and no durable event is longer, in UTF-8 bytes. */
export const MAX_WIRE_BYTES = 1_048_576
/** A session's system prompt, in UTF-8 bytes. */
export const SYSTEM_PROMPT_MAX_BYTES = 65_536
/** The longest `waitMillis` of a submitted prompt. */
export const WAIT_MILLIS_MAX = 600_000
/** Rows of a list when no `limit` is named. */
export const PAGE_DEFAULT = 100
/** The most rows one may ask for. */
export const PAGE_MAX = 500
/** Most lines of one page of the log. */
export const DAEMON_LOG_PAGE_MAX = PAGE_MAX
/** Most compactions of one page. */
export const SESSION_COMPACTION_PAGE_MAX = PAGE_MAX
/** Most entries of one page of the plugin journal. */
export const SESSION_JOURNAL_PAGE_MAX = PAGE_MAX
/** Most turns of one page. */
export const SESSION_TURN_PAGE_MAX = PAGE_MAX
/** A caught-up stream is never silent for longer, in milliseconds. */
export const SESSION_EVENT_HEARTBEAT_MILLIS = 15_000
/** The longest silence of a turn's stream, in milliseconds. */
export const TURN_EVENT_HEARTBEAT_MILLIS = 15_000
/** The longest silence of a caught-up server's stream, in milliseconds. */
export const SERVER_EVENT_HEARTBEAT_MILLIS = 15_000
/** Model generations of one turn when the prompt names no other number. */
export const MAX_STEPS_DEFAULT = 100
/** Turns one session may hold waiting; one more is refused as `overloaded`. */
export const QUEUE_MAX = 1_000
