-- Forgets a process that has not lived for so long. KEYS: boots. ARGV: boot, milliseconds.
local time = redis.call('TIME')
local over = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
if over < time[1] * 1000000 + time[2] - ARGV[2] * 1000 then redis.call('ZREM', KEYS[1], ARGV[1]) end
return 'ok'
