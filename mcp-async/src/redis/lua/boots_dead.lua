-- The processes that do not live. KEYS: boots.
local time = redis.call('TIME')
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', time[1] * 1000000 + time[2]))
