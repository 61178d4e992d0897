/** Findings about one code block in a text. */
export interface CodeFinding {
  /** As the fence names it, in lower case; empty if it names none. */
  readonly language: string
  /** Line of the opening fence in the text, from 1. */
  readonly line: number
  /** `parses` and `broken`: a parser of the language read the code. `not checked`: no parser read it. */
  readonly verdict: 'parses' | 'broken' | 'not checked'
  /** One sentence on what is wrong; null if nothing was found. */
  readonly problem: string | null
}

/** Findings about the code in a text. No code was run. */
export interface CodeFindings {
  readonly blocks: readonly CodeFinding[]
  /** Includes the blocks beyond the limit, which are not listed. */
  readonly total: number
}

/** Whether a text is JSON that follows a schema. */
export interface SchemaCheck {
  readonly passes: boolean
  /** The text without a fence around it. */
  readonly text: string
  /** One sentence on what is wrong; empty if nothing is. */
  readonly reason: string
}

/** Tasks on the output of models. */
export interface ChatTasks {
  /** Parses the fenced blocks of code of a Markdown text. */
  readonly 'chat/check-code': { readonly input: { readonly text: string }; readonly output: CodeFindings }
  /** Markdown to plain text, to be read aloud. More than 32,768 characters are refused. */
  readonly 'chat/plain-text': { readonly input: { readonly text: string }; readonly output: { readonly text: string } }
  /**
   * The schema must be within the limits of `schemaTrouble`; an unusable one is refused. With `text` null only the
   * schema is checked.
   */
  readonly 'chat/check-schema': {
    readonly input: { readonly schema: Readonly<Record<string, unknown>>; readonly text: string | null }
    readonly output: SchemaCheck
  }
}
