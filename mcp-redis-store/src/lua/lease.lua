-- Leases. The value of each process: the number of its lease, its end in microseconds, an announcement.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function parts(value)
  local number, over, said = string.match(value or '', '^(%d+) (%d+) (.*)$')
  return number or '0', tonumber(over or 0), said
end
-- Renews the lease of a process or begins one, and returns its number and its end. `value` is what was kept of it, `last` the
-- number of the lease that the process had.
local function renew(process, value, last, milliseconds, said)
  local number, over = parts(value)
  if over <= now or number ~= last then
    number = string.format('%.0f', math.max(now, tonumber(last) + 1, tonumber(number) + 1))
  end
  over = now + milliseconds * 1000
  -- After a removal a script may write although the store is full.
  redis.call('HDEL', KEYS[1], process)
  redis.call('HSET', KEYS[1], process, number .. ' ' .. string.format('%.0f', over) .. ' ' .. said)
  return number, over
end
