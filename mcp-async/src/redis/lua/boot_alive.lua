-- Whether a process lives. KEYS: boots. ARGV: boot.
local time = redis.call('TIME')
local over = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
return over > time[1] * 1000000 + time[2] and 1 or 0
