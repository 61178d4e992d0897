import recorded from '../openapi-examples.json' with { type: 'json' }

/** Examples of one operation: a body that it takes, and answers by status. */
interface OperationExamples {
  readonly request?: unknown
  readonly answers: Readonly<Record<string, unknown>>
}

/**
 * Examples for the document of the API, by operation: real answers of a node, recorded by `npm run gen:examples`. A test holds
 * each of them against the schema that it stands beside.
 */
export const OPENAPI_EXAMPLES = recorded as Readonly<Record<string, OperationExamples>>
