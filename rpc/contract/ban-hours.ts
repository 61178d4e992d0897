/** Longest ban that the API sets, in hours: a year. */
export const BAN_HOURS_MAX = 8_760
/** Hours of a ban where none are given. */
export const BAN_HOURS = 24
