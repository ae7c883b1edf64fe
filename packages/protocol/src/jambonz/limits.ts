/** The WebSocket subprotocol jambonz asks for. */
export const SUBPROTOCOL = "harness.jambonz.org"
/** The protocol's version, as `session:start` names it. */
export const PROTOCOL = 1
/** A turn record, in UTF-8 bytes of its JSON. */
export const TURN_RECORD_MAX = 16_384
/** One frame of the socket, in bytes. */
export const FRAME_MAX = 1_048_576
/** The longest `reason` of a hangup: it becomes a SIP header. */
export const HANGUP_REASON_MAX = 128
/** Close code: `session:start` named a protocol we do not speak. */
export const CLOSE_PROTOCOL = 4000
/** Close code: the call goes on over a newer socket. */
export const CLOSE_TAKEN_OVER = 4001
/** Close code: no `session:start` in time, or a `call_sid` that cannot name a session. */
export const CLOSE_POLICY = 1008
/** Close code: a frame was over `FRAME_MAX`. */
export const CLOSE_TOO_BIG = 1009
/** Close code: the call could not be taken in. */
export const CLOSE_INTERNAL = 1011
/** Close code: the call is over. */
export const CLOSE_OVER = 1000
/** Close code: the server restarts; a reconnect within 2 seconds goes on with the call. */
export const CLOSE_RESTART = 1012
