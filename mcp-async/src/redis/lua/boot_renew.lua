-- Says until when a process lives, and returns whether it lived before. KEYS: boots.
-- ARGV: boot, milliseconds, 1 only if it is unknown.
local time = redis.call('TIME')
local before = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]) or 0)
local over = string.format('%.0f', time[1] * 1000000 + time[2] + ARGV[2] * 1000)
if ARGV[3] == '1' then
  redis.call('ZADD', KEYS[1], 'NX', over, ARGV[1])
else
  redis.call('ZADD', KEYS[1], over, ARGV[1])
end
return before > time[1] * 1000000 + time[2] and 1 or 0
