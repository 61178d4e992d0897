/**
 * A voucher of a chat commits to this line and the body, so it pays at the address of chats alone: node-llm-chat does not answer a text
 * that begins with it.
 */
export const CHAT_LINE = 'POST /api/v1/chat/completions\n'

/** Whether a voucher commits to a chat by this text. */
export function isChatText(request: string): boolean {
  return request.startsWith(CHAT_LINE)
}
