export const REPLY_TARGETS: readonly import('../target.ts').Target[] = []
