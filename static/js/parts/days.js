// Days of UTC.

export const DAY_MS = 86400000;

export const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A UTC day as its number; days are compared and counted by it, never by the reader's clock. */
export const dayNumber = (day) => Date.parse(`${day}T00:00:00Z`) / DAY_MS;

export const dayText = (number) => new Date(number * DAY_MS).toISOString().slice(0, 10);

export const nextDay = (day) => dayText(dayNumber(day) + 1);

export const today = () => new Date().toISOString().slice(0, 10);
