import * as HttpApiSchema from "@effect/platform/HttpApiSchema"

/** What every event stream answers with. Its frames are described in the OpenAPI components. */
export const EventStream = HttpApiSchema.Text({ contentType: "text/event-stream" })
